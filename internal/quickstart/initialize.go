// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/clientcmd"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// certManagerFolder is the folder of cert-manager in the repository, and certManagerFile its manifest.
const (
	certManagerFolder = "cert-manager"
	certManagerFile   = "cert-manager.yaml"
)

// podProvider is a provider of a management cluster, with the flag of clusterctl init for its kind.
type podProvider struct {
	flag, name string
	kind       clusterctlv1.ProviderType
}

// podProviders are all providers of a management cluster.
var podProviders = []podProvider{
	{"core", "cluster-api", clusterctlv1.CoreProviderType},
	{"bootstrap", "kubeadm", clusterctlv1.BootstrapProviderType},
	{"control-plane", "foo", clusterctlv1.ControlPlaneProviderType},
	{"infrastructure", "foo", clusterctlv1.InfrastructureProviderType},
	{"runtime-extension", "foo", clusterctlv1.RuntimeExtensionProviderType},
}

// repositoryDir holds the providers and their images, as a release has them and `make management` writes them.
func (c Config) repositoryDir() string { return filepath.Join(c.BinDir, "management") }

// clusterctlConfig is the configuration with which clusterctl finds the repository and the cloud.
func (c Config) clusterctlConfig() string { return filepath.Join(c.StateDir, "clusterctl.yaml") }

// unfinishedConfig is the same configuration until all providers are installed. clusterctl knows the
// format of a file by the end of its name.
func (c Config) unfinishedConfig() string {
	return filepath.Join(c.StateDir, "unfinished-clusterctl.yaml")
}

// initialized reports whether an earlier run has installed all providers in the cluster.
func (c Config) initialized() bool {
	_, err := os.Stat(c.clusterctlConfig())
	return err == nil
}

// repository returns the part of clusterctl's configuration about the repository.
func (c Config) repository() (map[string]any, error) {
	providers := make([]repository.Provider, 0, len(podProviders))
	for _, one := range podProviders {
		version, err := c.versionOf(clusterctlv1.ManifestLabel(one.name, one.kind))
		if err != nil {
			return nil, err
		}
		providers = append(providers, repository.Provider{Name: one.name, Type: one.kind, Version: version})
	}
	version, err := c.versionOf(certManagerFolder)
	if err != nil {
		return nil, err
	}
	configuration := repository.Configuration(c.repositoryDir(), providers...)
	configuration["cert-manager"] = map[string]string{
		"version": version, "url": filepath.Join(c.repositoryDir(), certManagerFolder, version, certManagerFile),
	}
	return configuration, nil
}

// versionOf returns the newest version of a folder in the repository. install.sh keeps the versions of
// earlier releases there; a package has only its own.
func (c Config) versionOf(folder string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(c.repositoryDir(), folder))
	if err != nil {
		return "", fmt.Errorf("%s is missing", filepath.Join(c.repositoryDir(), folder))
	}
	var newest string
	var highest semver.Version
	for _, entry := range entries {
		version, err := semver.ParseTolerant(entry.Name())
		if err == nil && (newest == "" || version.GT(highest)) {
			newest, highest = entry.Name(), version
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s has no version", filepath.Join(c.repositoryDir(), folder))
	}
	return newest, nil
}

// writeClusterctlConfig writes the configuration, as long as not all providers are installed. Only its
// owner can read it, since it has the token of the cloud.
func (c Config) writeClusterctlConfig() error {
	configuration, err := c.repository()
	if err != nil {
		return err
	}
	for variable, file := range map[string]string{"FOO_CLOUD_TOKEN_B64": c.cloudToken(), "FOO_CLOUD_CA_B64": c.cloudCA()} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		configuration[variable] = base64.StdEncoding.EncodeToString(content)
	}
	configuration["FOO_CLOUD_ENDPOINT"] = c.httpsEndpoint()
	// What the ClusterClasses and the runtime extension need of Cluster API's core.
	configuration["CLUSTER_TOPOLOGY"], configuration["EXP_RUNTIME_SDK"] = "true", "true"
	content, err := yaml.Marshal(configuration)
	if err != nil {
		return err
	}
	return os.WriteFile(c.unfinishedConfig(), content, 0o600)
}

// loadImages loads the images of all managers into the cloud, from which machines pull them.
func loadImages(ctx context.Context, config Config) error {
	archives, err := filepath.Glob(filepath.Join(config.repositoryDir(), "images", "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		load := exec.CommandContext(ctx, config.program("foocloud"), "image", "load", archive)
		load.Env = []string{"FOO_CLOUD_ENDPOINT=" + config.cloudEndpoint(), "FOO_CLOUD_TOKEN_FILE=" + config.cloudToken()}
		if output, err := load.CombinedOutput(); err != nil {
			return fmt.Errorf("load images: %w: %s", err, output)
		}
	}
	return nil
}

// initialize makes the cluster a management cluster, and returns once all managers are available. It
// continues what an earlier run has begun.
func initialize(ctx context.Context, config Config, say *printer) error {
	if err := config.writeClusterctlConfig(); err != nil {
		return err
	}
	say.waitingFor("clusterctl to install the providers")
	ctx, cancel := context.WithTimeoutCause(ctx, config.Timeout, fmt.Errorf("the providers are not installed after %s", config.Timeout))
	defer cancel()
	lacking, err := config.lacking(ctx)
	if err != nil {
		return err
	}
	if err := install(ctx, config, lacking, say); err != nil {
		return err
	}
	// Those that an earlier run has installed, too.
	if _, err := config.output(ctx, config.kubernetes("kubectl"), "wait", "deployments", "--all", "--all-namespaces", "--for=condition=Available",
		"--timeout="+config.Timeout.String(), "--kubeconfig="+config.workloadKubeconfig()); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	say.done("management cluster up: all providers are installed")
	return os.Rename(config.unfinishedConfig(), config.clusterctlConfig())
}

// lacking returns the providers that are not installed in the cluster.
func (c Config) lacking(ctx context.Context) ([]podProvider, error) {
	cluster, err := clientcmd.BuildConfigFromFlags("", c.workloadKubeconfig())
	if err != nil {
		return nil, err
	}
	cluster.Proxy = noProxy
	live, err := newClient(cluster)
	if err != nil {
		return nil, err
	}
	var installed clusterctlv1.ProviderList
	if err := live.List(ctx, &installed); err != nil && !meta.IsNoMatchError(err) { // clusterctl installs the kind first
		return nil, fmt.Errorf("list the installed providers: %w", err)
	}
	return notIn(installed), nil
}

// notIn returns the providers of a management cluster that a list does not have.
func notIn(installed clusterctlv1.ProviderList) []podProvider {
	return slices.DeleteFunc(slices.Clone(podProviders), func(one podProvider) bool {
		return len(installed.FilterByProviderNameAndType(one.name, one.kind)) > 0
	})
}

// install installs providers in the cluster.
func install(ctx context.Context, config Config, providers []podProvider, say *printer) error {
	if len(providers) == 0 {
		return nil
	}
	arguments := []string{
		"init", "--config=" + config.unfinishedConfig(), "--kubeconfig=" + config.workloadKubeconfig(),
		"--wait-providers", fmt.Sprintf("--wait-provider-timeout=%d", int(config.Timeout.Seconds())),
	}
	for _, one := range providers {
		arguments = append(arguments, "--"+one.flag+"="+one.name)
	}
	command := exec.CommandContext(ctx, config.program("tools/clusterctl"), arguments...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + config.StateDir}
	last, err := relay(command, say)
	if err = cmp.Or(context.Cause(ctx), err); err != nil {
		return fmt.Errorf("clusterctl init: %w: %s", err, last)
	}
	return nil
}

// relay runs a command, says what it logs, and returns its last line.
func relay(command *exec.Cmd, say *printer) (string, error) {
	reader, writer := io.Pipe()
	command.Stderr = writer
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(command.Run(), writer.Close()) }()
	var last string
	lines := bufio.NewScanner(reader)
	advice := false
	for lines.Scan() {
		// It ends with an empty line and advice, which lacks the configuration that is needed here.
		if advice = advice || lines.Text() == ""; !advice {
			last = lines.Text()
			say.done("clusterctl: " + last)
		}
	}
	// A line that is too long ends the scan, but the command still writes.
	_, err := io.Copy(io.Discard, reader)
	return last, cmp.Or(<-ended, err)
}

// managementSteps returns commands to continue with on a management cluster, ready to be copied.
func managementSteps(config Config) string {
	kubectl, clusterctl := config.kubernetes("kubectl"), config.program("tools/clusterctl")
	settings := "--config " + config.clusterctlConfig()
	return printed([]step{
		{"Use the management cluster", fmt.Sprintf("export KUBECONFIG=%s\n  %s get pods --all-namespaces", config.workloadKubeconfig(), kubectl)},
		{"Create a workload cluster", fmt.Sprintf("%s generate cluster first %s --flavor fast --kubernetes-version %s --control-plane-machine-count 1 --worker-machine-count 1 | %s apply -f -",
			clusterctl, settings, config.KubernetesVersion, kubectl)},
		{"Inspect it", clusterctl + " describe cluster first"},
		{"Let the management cluster manage itself", fmt.Sprintf("%s move %s --kubeconfig %s --to-kubeconfig %s --namespace %s",
			clusterctl, settings, config.managementKubeconfig(), config.workloadKubeconfig(), config.Namespace)},
	})
}
