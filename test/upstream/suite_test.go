//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upstream runs Cluster API's own end-to-end specs, unchanged, on Foo's machines. It only
// configures them: config.yaml has the providers, variables and intervals, the folder templates has
// the flavors that specs need besides Foo's own, and the management cluster is made by foo.
//
// `make upstream` builds what it needs and runs it as root. It is a module of its own, because the
// specs depend on Docker's and kind's libraries. They start neither.
//
// Limits: all specs run on one machine.
package upstream

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/bootstrap"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"
)

var (
	bin           = flag.String("bin", "../../bin", "folder of the built programs")
	artifacts     = flag.String("artifacts", "../../bin/upstream/artifacts", "folder for logs and objects of the clusters")
	configuration = flag.String("configuration", "config.yaml", "configuration of the specs")
)

// hubName is the name of the management cluster.
const hubName = "hub"

var controlPlaneProviders = []string{"kubeadm", "foo"}

var (
	// ctx ends with the suite; the specs take it when they are declared.
	ctx, end = context.WithCancel(context.Background())
	// config is what config.yaml says, with how to reach the cloud.
	config *clusterctl.E2EConfig
	// clusterctlConfig is the path of clusterctl's configuration.
	clusterctlConfig string
	// hub is the management cluster that all specs share.
	hub          framework.ClusterProxy
	hubLifecycle bootstrap.ClusterProvider
)

func TestUpstream(t *testing.T) {
	RegisterFailHandler(Fail)
	// Some waits of the specs have no interval in the configuration.
	SetDefaultEventuallyTimeout(10 * time.Minute)
	SetDefaultEventuallyPollingInterval(time.Second)
	ctrl.SetLogger(klog.Background())
	RunSpecs(t, "Cluster API's specs on Foo's machines")
}

// The first of Ginkgo's processes makes the management cluster, and tells the others where it is.
var _ = SynchronizedBeforeSuite(func() []byte {
	Expect(os.Geteuid()).To(BeZero(), "instances need namespaces, bridges and mounts: run it as root")
	configure()
	Expect(os.RemoveAll(*artifacts)).To(Succeed())
	Expect(os.MkdirAll(*artifacts, 0o750)).To(Succeed())

	machines := &fooCluster{name: hubName, version: config.MustGetVariable("KUBERNETES_VERSION_MANAGEMENT")}
	hubLifecycle = machines
	machines.Create(ctx)
	maps.Copy(config.Variables, machines.cloudVariables())
	path := writeRepository()
	clusterctl.InitManagementClusterAndWatchControllerLogs(ctx, clusterctl.InitManagementClusterAndWatchControllerLogsInput{
		ClusterProxy: connect(machines), ClusterctlConfigPath: path, LogFolder: filepath.Join(*artifacts, "clusters", hubName),
		ControlPlaneProviders:     controlPlaneProviders,
		InfrastructureProviders:   config.InfrastructureProviders(),
		RuntimeExtensionProviders: config.RuntimeExtensionProviders(),
	}, config.GetIntervals(hubName, "wait-controllers")...)

	content, err := json.Marshal(shared{State: machines.state, ClusterctlConfig: path})
	Expect(err).NotTo(HaveOccurred())
	return content
}, func(content []byte) {
	var from shared
	Expect(json.Unmarshal(content, &from)).To(Succeed())
	configure()
	machines := &fooCluster{name: hubName, state: from.State}
	machines.readEnv()
	maps.Copy(config.Variables, machines.cloudVariables())
	clusterctlConfig = from.ClusterctlConfig
	hub = connect(machines)
})

// shared is what all processes know about the management cluster.
type shared struct{ State, ClusterctlConfig string }

var _ = SynchronizedAfterSuite(func() {
	if hub != nil {
		hub.Dispose(context.Background())
	}
}, func() {
	end()
	if hubLifecycle != nil {
		hubLifecycle.Dispose(context.Background())
	}
})

// configure reads the flags and config.yaml.
func configure() {
	GinkgoHelper()
	for _, path := range []*string{bin, artifacts} {
		absolute, err := filepath.Abs(*path)
		Expect(err).NotTo(HaveOccurred())
		*path = absolute
	}
	config = clusterctl.LoadE2EConfig(ctx, clusterctl.LoadE2EConfigInput{ConfigPath: *configuration})
}

func connect(machines *fooCluster) framework.ClusterProxy {
	scheme := runtime.NewScheme()
	framework.TryAddDefaultSchemes(scheme)
	return framework.NewClusterProxy(hubName, machines.GetKubeconfigPath(), scheme, framework.WithMachineLogCollector(consoles{machines}))
}

// writeRepository writes the clusterctl repository and returns the path of clusterctl's
// configuration. It adds what config.yaml cannot say: the framework accepts only one control plane
// provider, and variables only as text.
func writeRepository() string {
	GinkgoHelper()
	repository := filepath.Join(*artifacts, "repository")
	path := clusterctl.CreateRepository(ctx, clusterctl.CreateRepositoryInput{E2EConfig: config, RepositoryFolder: repository})

	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var settings map[string]any
	Expect(yaml.Unmarshal(content, &settings)).To(Succeed())
	// The folder must be in the repository under the version of the infrastructure provider.
	label := clusterctlv1.ManifestLabel("foo", clusterctlv1.ControlPlaneProviderType)
	for _, built := range []string{"management", "upstream"} {
		Expect(os.CopyFS(filepath.Join(repository, label), os.DirFS(filepath.Join(*bin, built, label)))).To(Succeed())
	}
	settings["providers"] = append(settings["providers"].([]any), map[string]any{
		"name": "foo", "type": string(clusterctlv1.ControlPlaneProviderType),
		"url": filepath.Join(repository, label, "latest", "control-plane-components.yaml"),
	})
	manifests, err := filepath.Glob(filepath.Join(*bin, "management/cert-manager/v*/cert-manager.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(manifests).To(HaveLen(1), "manifests of cert-manager")
	settings["cert-manager"] = map[string]any{"url": manifests[0], "version": filepath.Base(filepath.Dir(manifests[0]))}
	content, err = yaml.Marshal(settings)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}
