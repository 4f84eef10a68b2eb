// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// checkGrace is how long a check may take to end after the user interrupts it.
const checkGrace = 10 * time.Second

func notRoot() error {
	return &InvalidError{Problems: []string{"not root: instances need namespaces, bridges and mounts; run it with sudo"}}
}

// checkVersion checks whether an instance can run the Kubernetes version.
func (c Config) checkVersion(wrong *problems) {
	versions := c.builtVersions()
	if slices.Contains(versions, c.KubernetesVersion) {
		return
	}
	built := cmp.Or(strings.Join(versions, ", "), "none")
	if c.installed() {
		wrong.add("--kubernetes-version %s: this release of Foo has only %s; choose that, or install a release with it", c.KubernetesVersion, built)
		return
	}
	wrong.add("--kubernetes-version %s: its programs or container images have not been built (built: %s); build them with: make node KUBERNETES_VERSION=%s",
		c.KubernetesVersion, built, c.KubernetesVersion)
}

func (c Config) checkPrograms(wrong *problems) {
	c.checkVersion(wrong)
	for _, name := range []string{"foonode", "foocloud", "tools/clusterctl"} {
		c.checkBuilt(c.program(name), wrong)
	}
	for _, provider := range c.providers() {
		c.checkBuilt(provider.Program, wrong)
		c.checkBuilt(provider.Components, wrong)
	}
	if c.Management {
		if _, err := c.repository(); err != nil {
			wrong.add("--management: %v; %s", err, c.remedy("make management"))
		}
	}
}

func (c Config) checkBuilt(path string, wrong *problems) {
	if _, err := os.Stat(path); err != nil {
		wrong.add("%s is missing; %s", path, c.remedy("make quickstart"))
	}
}

// remedy says where missing files come from: a release, or else a build.
func (c Config) remedy(build string) string {
	if c.installed() {
		return "install Foo again"
	}
	return "build it with: " + build
}

// installed reports whether the programs came with a release, which has its version beside them, and
// were not built from sources.
func (c Config) installed() bool {
	_, err := os.Stat(filepath.Join(c.BinDir, "VERSION"))
	return err == nil
}

// checkRoot asks the cloud whether instances can have a copy-on-write root at the location of the
// state folder and whether their network is free, and asks the node agent whether it has everything
// it needs.
func (c Config) checkRoot(ctx context.Context, wrong *problems) {
	check := exec.CommandContext(ctx, c.program("foocloud"), "check", "--state-dir", c.cloudDir(), "--system-dir", c.systemDir(), "--agent", c.program("foonode"),
		"--bridge", c.Bridge, "--network", c.Network, "--config", c.CloudConfig)
	if c.Resume { // clusters that exist may have all the memory and space
		check.Args = append(check.Args, "--restart")
	}
	// The check cleans up after itself unless it is killed.
	check.Cancel, check.WaitDelay = func() error { return check.Process.Signal(unix.SIGTERM) }, checkGrace
	output, err := check.CombinedOutput()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		for line := range strings.Lines(cmp.Or(strings.TrimSpace(string(output)), err.Error())) {
			wrong.add("%s", strings.TrimPrefix(strings.TrimSpace(line), "foocloud: "))
		}
	}
}

func (c Config) checkPort(ctx context.Context, wrong *problems) {
	if c.ManagementPort == 0 {
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.ManagementPort)))
	if err != nil {
		wrong.add("--management-port %d is taken: %v; choose another one, or 0 for any free port", c.ManagementPort, err)
		return
	}
	_ = listener.Close()
}
