//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"encoding/base64"
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/cluster-api/test/framework/bootstrap"
)

// The network of all instances. No other suite and no default of foo uses these.
var (
	bridge  = flag.String("bridge", "fooupstream", "bridge of the instances")
	network = flag.String("network", "10.95.0.0/16", "network of the instances")
)

// fooCluster is a cluster without providers that foo makes, together with the cloud in which the
// specs make their clusters.
type fooCluster struct {
	name, version string
	// state is the folder of the quick start.
	state string
	// env says how to reach the cloud.
	env map[string]string
}

var _ bootstrap.ClusterProvider = &fooCluster{}

// Create makes the cluster, and loads the images of all providers into the cloud.
func (c *fooCluster) Create(ctx context.Context) {
	GinkgoHelper()
	var err error
	// Instances hide /tmp.
	c.state, err = os.MkdirTemp("/var/lib", "foo-upstream-")
	Expect(err).NotTo(HaveOccurred())
	prefix, err := netip.ParsePrefix(*network)
	Expect(err).NotTo(HaveOccurred(), "-network")
	// Pods find the cloud at the first address of the network.
	cloud := netip.AddrPortFrom(prefix.Addr().Next(), 7443)
	run(c.foo(ctx, "quickstart", "--detach", "--state-dir="+c.state, "--bridge="+*bridge, "--network="+*network, "--timeout=10m",
		"--cluster-name="+c.name, "--worker-machine-count=1", "--kubernetes-version="+c.version, "--cloud-listen=https://"+cloud.String()))
	c.readEnv()

	archives, err := filepath.Glob(filepath.Join(*bin, "*/images/*.tar"))
	Expect(err).NotTo(HaveOccurred())
	for _, archive := range archives {
		if folder := filepath.Base(filepath.Dir(filepath.Dir(archive))); folder == "management" || folder == "upstream" {
			run(c.foocloud(ctx, "image", "load", archive))
		}
	}
}

// GetKubeconfigPath returns the path of the administrator's kubeconfig.
func (c *fooCluster) GetKubeconfigPath() string { return filepath.Join(c.state, c.name+".kubeconfig") }

// Dispose deletes the cluster, and the cloud with everything in it.
func (c *fooCluster) Dispose(ctx context.Context) {
	GinkgoHelper()
	if c.state != "" {
		run(c.foo(ctx, "quickstart", "delete", "--state-dir="+c.state))
	}
}

func (c *fooCluster) foo(ctx context.Context, arguments ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(*bin, "foo"), arguments...)
}

func (c *fooCluster) foocloud(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(*bin, "foocloud"), arguments...)
	command.Env = []string{"FOO_CLOUD_ENDPOINT=" + c.env["FOO_CLOUD_ENDPOINT"], "FOO_CLOUD_TOKEN_FILE=" + c.env["FOO_CLOUD_TOKEN_FILE"]}
	return command
}

// readEnv reads how to reach the cloud.
func (c *fooCluster) readEnv() {
	GinkgoHelper()
	// Clients in this process must not use a proxy for clusters.
	Expect(os.Setenv("NO_PROXY", strings.Join([]string{*network, "127.0.0.1", os.Getenv("NO_PROXY")}, ","))).To(Succeed())
	content, err := os.ReadFile(filepath.Join(c.state, "env"))
	Expect(err).NotTo(HaveOccurred())
	c.env = map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		c.env[name] = value
	}
}

// cloudVariables returns what Foo's components need to reach the cloud from a Pod.
func (c *fooCluster) cloudVariables() map[string]string {
	GinkgoHelper()
	variables := map[string]string{"FOO_CLOUD_ENDPOINT": c.env["FOO_CLOUD_HTTPS_ENDPOINT"]}
	for variable, file := range map[string]string{"FOO_CLOUD_TOKEN_B64": "FOO_CLOUD_TOKEN_FILE", "FOO_CLOUD_CA_B64": "FOO_CLOUD_CA_FILE"} {
		content, err := os.ReadFile(c.env[file])
		Expect(err).NotTo(HaveOccurred())
		variables[variable] = base64.StdEncoding.EncodeToString(content)
	}
	return variables
}

func run(command *exec.Cmd) {
	GinkgoHelper()
	output, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s: %s", strings.Join(command.Args, " "), output)
}
