/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package kubelet

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
)

// NewCommand returns the kubelet command. It takes the flags of the release's kubelet; as there, a flag on the command
// line wins over the file that --config names.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubelet",
		Short:              "The kubelet, run in an instance without cgroups and mounts",
		DisableFlagParsing: true,
		SilenceUsage:       true,
		RunE: func(_ *cobra.Command, args []string) error {
			server, err := parse(args)
			if err != nil {
				return err
			}
			return run(genericapiserver.SetupSignalContext(), server)
		},
	}
}

// parse reads flags and configuration file into one validated configuration.
func parse(args []string) (*options.KubeletServer, error) {
	flags := options.NewKubeletFlags()
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, fmt.Errorf("default kubelet configuration: %w", err)
	}
	if err := newFlagSet(flags, config).Parse(args); err != nil {
		return nil, fmt.Errorf("kubelet flags: %w", err)
	}
	verflag.PrintAndExitIfRequested()
	if err := options.ValidateKubeletFlags(flags); err != nil {
		return nil, fmt.Errorf("kubelet flags: %w", err)
	}
	if flags.KubeletConfigFile != "" {
		if config, err = load(flags.KubeletConfigFile); err != nil {
			return nil, err
		}
		// Read the flags once more over the file's values; the flags themselves are already parsed.
		again := newFlagSet(options.NewKubeletFlags(), config)
		if err := again.Parse(args); err != nil {
			return nil, fmt.Errorf("kubelet flags over %s: %w", flags.KubeletConfigFile, err)
		}
	}
	adapt(config)
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return nil, fmt.Errorf("kubelet feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApplyAsField(&config.Logging, utilfeature.DefaultFeatureGate, field.NewPath("logging")); err != nil {
		return nil, fmt.Errorf("kubelet logging: %w", err)
	}
	if err := validation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err != nil {
		return nil, fmt.Errorf("kubelet configuration %s: %w", flags.KubeletConfigFile, err)
	}
	return &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}, nil
}

func newFlagSet(flags *options.KubeletFlags, config *kubeletconfig.KubeletConfiguration) *pflag.FlagSet {
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(set)
	options.AddKubeletConfigFlags(set, config)
	options.AddGlobalFlags(set)
	return set
}

func load(file string) (*kubeletconfig.KubeletConfiguration, error) {
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, file)
	if err != nil {
		return nil, fmt.Errorf("kubelet configuration %s: %w", file, err)
	}
	config, err := loader.Load(context.Background())
	if err != nil {
		return nil, fmt.Errorf("kubelet configuration %s: %w", file, err)
	}
	if config.EvictionHard == nil {
		config.EvictionHard = eviction.DefaultEvictionHard
	}
	return config, nil
}

// adapt switches off what an instance without cgroups can not do, whatever the file says.
func adapt(config *kubeletconfig.KubeletConfiguration) {
	config.CgroupsPerQOS = false
	config.EnforceNodeAllocatable = nil
	config.FailCgroupV1 = false
	config.FailSwapOn = false
	config.ProtectKernelDefaults = false
	// The instance's disk is the machine's: thresholds in percent of it would evict pods for what others wrote.
	config.EvictionHard = map[string]string{}
	config.ImageGCHighThresholdPercent = 100
	config.LocalStorageCapacityIsolation = false
}

func run(ctx context.Context, server *options.KubeletServer) error {
	deps, err := dependencies(ctx, server)
	if err != nil {
		return err
	}
	utilfeature.DefaultMutableFeatureGate.AddMetrics()
	if err := app.Run(ctx, server, deps, utilfeature.DefaultFeatureGate); err != nil {
		return fmt.Errorf("kubelet: %w", err)
	}
	return nil
}
