// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/capfoo/cluster-api-provider-foo/internal/management"
	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// snapshotImage is the image of the Job that takes etcd snapshots. It must be loaded into the cloud.
const snapshotImage = "foo-etcd-snapshot:unreleased"

// Components of the providers in the manifests folder.
const (
	coreComponents      = "cluster-api/core-components.yaml"
	bootstrapComponents = "bootstrap-kubeadm/bootstrap-components.yaml"
	kubeadmComponents   = "control-plane-kubeadm/control-plane-components.yaml"
	// Foo's components: both providers together, and each provider alone.
	fooComponents               = "foo/foo-components.yaml"
	fooControlPlaneComponents   = "control-plane-foo/control-plane-components.yaml"
	fooInfrastructureComponents = "infrastructure-foo/infrastructure-components.yaml"
	fooExtensionComponents      = "runtime-extension-foo/runtime-extension-components.yaml"
	fooExtensionConfig          = "runtime-extension-foo/extensionconfig.yaml"
)

// Names of the processes and of their logs.
const (
	cloudProcess   = "foocloud"
	managerProcess = "manager"
	// These replace the manager if each provider has its own.
	controlPlaneProcess   = "control-plane"
	infrastructureProcess = "infrastructure"
	extensionProcess      = "runtime-extension"
	// Cluster API's own control plane provider.
	kubeadmProcess = "kubeadm-control-plane"
)

// fast lists the flags that avoid needless waiting in a local provider. A new management cluster
// has nothing to migrate, and checking for it would keep the API server busy while the first
// cluster comes up.
var fast = []string{
	"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--v=2",
	"--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
}

// baseGates are the feature gates of Cluster API's providers. With rate limiting, a controller
// would wait up to a second before it reconciles an object again, which is noticeable in a cluster
// that comes up within seconds. ClusterTopology is for Clusters that are created from a
// ClusterClass.
const baseGates = "--feature-gates=ReconcilerRateLimiting=false,ClusterTopology=true"

// startPrograms brings up the management cluster, the cloud and the providers.
func startPrograms(ctx context.Context, config Config, sup *supervisor.Supervisor, say *printer) (*management.Cluster, error) {
	var cluster *management.Cluster
	var providers []*management.InstalledProvider
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return startCloud(groupCtx, config, sup, say) })
	group.Go(func() (err error) {
		cluster, providers, err = startManagement(groupCtx, config, sup, say)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	say.waitingFor("the controllers")
	if err := cluster.StartControllerManager(ctx); err != nil {
		return nil, err
	}
	group, groupCtx = errgroup.WithContext(ctx)
	for _, provider := range providers {
		group.Go(func() error { return provider.Start(groupCtx) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	say.done("controllers up: " + config.controllers())
	if !config.Extension {
		return cluster, nil
	}
	say.waitingFor("Cluster API to know the runtime extension")
	for _, provider := range providers {
		if err := provider.Register(ctx); err != nil {
			return nil, err
		}
	}
	say.done("runtime extension registered")
	return cluster, nil
}

// controllers names everything that providers returns.
func (c Config) controllers() string {
	if c.KubeadmControlPlane {
		return "Cluster API core, kubeadm bootstrap and control plane providers, Foo"
	}
	return "Cluster API core, kubeadm bootstrap provider, Foo"
}

func startManagement(ctx context.Context, config Config, sup *supervisor.Supervisor, say *printer) (*management.Cluster, []*management.InstalledProvider, error) {
	say.waitingFor("the management API server")
	cluster, err := management.Start(ctx, management.Options{
		Programs:   filepath.Dir(config.kubernetes("kubernetes")),
		Dir:        filepath.Join(config.StateDir, "management"),
		Kubeconfig: config.managementKubeconfig(),
		Port:       config.ManagementPort,
		Supervisor: sup,
	})
	if err != nil {
		return nil, nil, err
	}
	say.done("management API server up")
	say.waitingFor("the management API server to accept the CRDs and webhooks")
	var installed []*management.InstalledProvider
	for _, provider := range config.providers() {
		one, err := cluster.Install(ctx, provider)
		if err != nil {
			return nil, nil, err
		}
		installed = append(installed, one)
	}
	say.done("CRDs, webhooks and roles installed")
	return cluster, installed, nil
}

// providers returns the Cluster API providers to run.
func (c Config) providers() []management.Provider {
	list := []management.Provider{
		c.capiProvider("core", coreComponents),
		c.capiProvider("kubeadm-bootstrap", bootstrapComponents),
	}
	if c.KubeadmControlPlane {
		list = append(list, c.capiProvider(kubeadmProcess, kubeadmComponents))
	}
	if c.Extension {
		list = append(list, c.extension())
	}
	if c.ManagerPerProvider {
		return append(list,
			c.fooProvider(controlPlaneProcess, fooControlPlaneComponents, "--providers=control-plane"),
			c.fooProvider(infrastructureProcess, fooInfrastructureComponents, append(c.cloudArgs(), "--providers=infrastructure")...))
	}
	return append(list, c.fooProvider(managerProcess, fooComponents, c.cloudArgs()...))
}

// extension is Foo's runtime extension. As in a release, it is a separate process with its own
// permissions.
func (c Config) extension() management.Provider {
	provider := c.fooProvider(extensionProcess, fooExtensionComponents, append(c.cloudArgs(), "--etcd-snapshot-image="+snapshotImage)...)
	provider.Program = c.program(extensionProcess)
	provider.ExtensionConfig, provider.Settings = c.manifest(fooExtensionConfig), c.ExtensionSettings
	return provider
}

// gates are the feature gates of Cluster API's providers.
func (c Config) gates() string {
	if c.Extension {
		return baseGates + ",RuntimeSDK=true"
	}
	return baseGates
}

// cloudArgs tell a program where the cloud is.
func (c Config) cloudArgs() []string {
	return []string{"--cloud-endpoint=" + c.cloudEndpoint(), "--cloud-token-file=" + c.cloudToken()}
}

// cloudManager is the name of the manager that talks to the cloud.
func (c Config) cloudManager() string {
	if c.ManagerPerProvider {
		return infrastructureProcess
	}
	return managerProcess
}

// capiProvider returns one of Cluster API's own providers. Its process is named after its program.
func (c Config) capiProvider(name, components string) management.Provider {
	return management.Provider{
		Name: name, Program: c.program("tools/" + name), Components: c.manifest(components), Args: append([]string{c.gates()}, fast...),
	}
}

func (c Config) fooProvider(name, components string, args ...string) management.Provider {
	return management.Provider{Name: name, Program: c.program("manager"), Components: c.manifest(components), Args: append(args, fast...)}
}

func startCloud(ctx context.Context, config Config, sup *supervisor.Supervisor, say *printer) error {
	args := []string{
		"serve", "--state-dir=" + config.cloudDir(), "--listen=" + config.cloudEndpoint(),
		"--bridge=" + config.Bridge, "--network=" + config.Network,
		"--system-dir=" + config.systemDir(), "--images-dir=" + config.imagesDir(), "--agent=" + config.program("foonode"), "--config=" + config.CloudConfig,
	}
	if https := config.httpsEndpoint(); https != "" {
		args = append(args, "--listen="+https)
	}
	if config.UserNamespaces != "" {
		args = append(args, "--user-namespaces="+config.UserNamespaces)
	}
	err := sup.Start(ctx, supervisor.Process{
		Name:  cloudProcess,
		Path:  config.program("foocloud"),
		Args:  args,
		Env:   proxies(os.Environ()),
		Ready: func(ctx context.Context) error { return cloudReady(ctx, config) },
	})
	if err != nil {
		return err
	}
	say.done("cloud up")
	return nil
}

// proxies returns the proxy settings of an environment. The cloud fetches container images.
func proxies(environment []string) []string {
	return slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}, strings.ToUpper(name))
	})
}

// cloudReady returns nil once the cloud accepts connections and has a token for its tenant.
func cloudReady(ctx context.Context, config Config) error {
	if _, err := os.Stat(config.cloudToken()); err != nil {
		return fmt.Errorf("the cloud has not written its token yet: %w", err)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", config.cloudSocket())
	if err != nil {
		return err
	}
	return connection.Close()
}

// writeEnvironment writes shell variables that other programs need to use the started programs. Some
// wait for the file.
func writeEnvironment(config Config) error {
	content := fmt.Sprintf("MANAGEMENT_KUBECONFIG=%s\nFOO_CLOUD_ENDPOINT=%s\nFOO_CLOUD_TOKEN_FILE=%s\nFOO_STATE_DIR=%s\nFOO_LOG_DIR=%s\nFOO_PID_DIR=%s\nKUBERNETES_VERSION=%s\n",
		config.managementKubeconfig(), config.cloudEndpoint(), config.cloudToken(), config.StateDir, config.logDir(), config.pidDir(), config.KubernetesVersion)
	if https := config.httpsEndpoint(); https != "" {
		content += fmt.Sprintf("FOO_CLOUD_HTTPS_ENDPOINT=%s\nFOO_CLOUD_CA_FILE=%s\n", https, config.cloudCA())
	}
	if config.Management {
		content += fmt.Sprintf("FOO_CLUSTERCTL_CONFIG=%s\nFOO_PODS_KUBECONFIG=%s\n", config.clusterctlConfig(), config.workloadKubeconfig())
	}
	return replaceFile(config.environmentFile(), []byte(content))
}
