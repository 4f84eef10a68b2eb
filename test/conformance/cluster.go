// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// clusterUp is how long a cluster may take on a slow and busy machine.
	clusterUp = 10 * time.Minute
	// cloudConfig has an instance type for the tests: their pods together request more than the
	// default types have.
	cloudConfig = "instanceTypes:\n- {name: conformance, cpus: 4, memory: 8Gi}\n"
)

// cluster is a cluster that quickstart created.
type cluster struct {
	stateDir, bin string
	// own says that this process created it.
	own bool
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.stateDir, "demo.kubeconfig") }

// openCluster returns the cluster in the state folder, or creates one with two workers, which the
// tests need.
func openCluster(ctx context.Context, r run, version string) (*cluster, error) {
	c := &cluster{stateDir: r.stateDir, bin: r.bin}
	if _, err := os.Stat(c.kubeconfig()); err == nil {
		fmt.Println("using the cluster in", c.stateDir)
		return c, nil
	}
	configuration := filepath.Join(r.results, "cloud.yaml")
	if err := os.WriteFile(configuration, []byte(cloudConfig), 0o600); err != nil {
		return nil, err
	}
	create := c.command(ctx, "foo", "quickstart", "--detach", "--kubernetes-version="+version, "--worker-machine-count=2",
		"--cloud-config="+configuration, "--state-dir="+r.stateDir, "--bridge="+r.bridge, "--network="+r.network, "--timeout="+clusterUp.String())
	create.Env = append(os.Environ(), "FOO_CONTROL_PLANE_INSTANCE_TYPE=conformance", "FOO_WORKER_INSTANCE_TYPE=conformance")
	// If it is interrupted, it deletes what it has made.
	create.Cancel = func() error { return create.Process.Signal(os.Interrupt) }
	if err := create.Run(); err != nil {
		return nil, fmt.Errorf("create a cluster: %w", err)
	}
	c.own = true
	return c, nil
}

// command returns a command of one of Foo's programs, which shows what it says.
func (c *cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.bin, program), args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command
}

// load loads the images of an archive into the cloud's registry.
func (c *cluster) load(ctx context.Context, archive string) error {
	return c.command(ctx, "foocloud", "image", "load", archive, "--endpoint=unix://"+filepath.Join(c.stateDir, "cloud", "foocloud.sock"),
		"--token-file="+filepath.Join(c.stateDir, "cloud", "token")).Run()
}

// close deletes the cluster if this process created it, even if the user has interrupted the tests.
func (c *cluster) close(ctx context.Context) error {
	if !c.own {
		return nil
	}
	return c.command(context.WithoutCancel(ctx), "foo", "quickstart", "delete", "--state-dir="+c.stateDir).Run()
}
