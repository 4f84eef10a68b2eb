// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// checkGrace is how long a check may take to end when the user has had enough of it.
const checkGrace = 10 * time.Second

// CheckHost looks whether this machine can run the quickstart as configured. It changes nothing that outlives the
// call, and returns an InvalidError with all that is wrong.
func (c Config) CheckHost(ctx context.Context) error {
	var wrong problems
	if os.Geteuid() != 0 {
		wrong.add("not root: instances are made of namespaces, bridges and mounts; run it with sudo")
		return wrong.err() // the other checks need root themselves
	}
	c.checkPrograms(&wrong)
	c.checkRoot(ctx, &wrong)
	c.checkBridge(&wrong)
	c.checkPort(ctx, &wrong)
	return wrong.err()
}

func (c Config) checkPrograms(wrong *problems) {
	if _, err := os.Stat(c.kubernetes("kubernetes")); err != nil {
		built := strings.Join(c.builtVersions(), ", ")
		if built == "" {
			built = "none"
		}
		wrong.add("--kubernetes-version %s: there is no node binary for it (built: %s); build it with: make node KUBERNETES_VERSION=%s",
			c.KubernetesVersion, built, c.KubernetesVersion)
	}
	for _, name := range []string{"foonode", "foocloud", "tools/clusterctl"} {
		checkBuilt(c.program(name), wrong)
	}
	for _, provider := range c.providers() {
		checkBuilt(provider.Program, wrong)
		checkBuilt(provider.Components, wrong)
	}
}

func checkBuilt(path string, wrong *problems) {
	if _, err := os.Stat(path); err != nil {
		wrong.add("%s is missing; build it with: make quickstart", path)
	}
}

// checkRoot lets the cloud say whether instances can have their copy-on-write root where the state folder is to lie and whether their
// network is free, and the node agent whether it can do all it has to.
func (c Config) checkRoot(ctx context.Context, wrong *problems) {
	parent := c.StateDir
	for {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	check := exec.CommandContext(ctx, c.program("foocloud"), "check", "--state-dir", parent, "--system-dir", c.systemDir(), "--agent", c.program("foonode"),
		"--bridge", c.Bridge, "--network", c.Network)
	// It removes what it has made for the check, if it is not killed.
	check.Cancel, check.WaitDelay = func() error { return check.Process.Signal(unix.SIGTERM) }, checkGrace
	output, err := check.CombinedOutput()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		wrong.add("%s", strings.TrimPrefix(strings.TrimSpace(string(output)), "foocloud: "))
	}
}

func (c Config) checkBridge(wrong *problems) {
	if _, err := net.InterfaceByName(c.Bridge); err == nil && !c.Resume {
		wrong.add("--bridge %s: there is a network interface of this name; choose another one, or delete what an earlier run has left", c.Bridge)
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
