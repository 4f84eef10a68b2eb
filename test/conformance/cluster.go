// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// nodes is one control plane node and the two workers that the tests need.
	nodes = 3
	// clusterUp is how long a cluster may take on a slow and busy machine.
	clusterUp = 10 * time.Minute
	// cloudConfig has an instance type for the tests: their pods together request more than the
	// default types have.
	cloudConfig = "instanceTypes:\n- {name: conformance, cpus: 4, memory: 8Gi}\n"
)

// cluster is a cluster that quickstart created.
type cluster struct {
	stateDir, bin string
	// quickstart is nil if another process started it.
	quickstart *exec.Cmd
	ended      chan error
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.stateDir, "demo.kubeconfig") }

// openCluster returns the cluster in the state folder, or creates one.
func openCluster(ctx context.Context, r run, version string) (*cluster, error) {
	c := &cluster{stateDir: r.stateDir, bin: r.bin}
	if _, err := os.Stat(c.kubeconfig()); err == nil {
		fmt.Println("using the cluster in", c.stateDir)
		return c, c.wait(ctx)
	}
	configuration := filepath.Join(r.results, "cloud.yaml")
	if err := os.WriteFile(configuration, []byte(cloudConfig), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(r.results, "quickstart.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	fmt.Println("creating a cluster in", c.stateDir)
	c.quickstart = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(r.bin, "foo"), "quickstart", "--kubernetes-version="+version,
		"--worker-machine-count=2", "--cloud-config="+configuration, "--state-dir="+r.stateDir, "--bridge="+r.bridge, "--network="+r.network,
		"--timeout="+clusterUp.String())
	c.quickstart.Env = append(os.Environ(), "FOO_CONTROL_PLANE_INSTANCE_TYPE=conformance", "FOO_WORKER_INSTANCE_TYPE=conformance")
	c.quickstart.Stdout, c.quickstart.Stderr = log, log
	// It is stopped explicitly, and gets no Ctrl-C before the tests have ended.
	c.quickstart.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.quickstart.Start(); err != nil {
		return nil, err
	}
	c.ended = make(chan error, 1)
	go func() { c.ended <- c.quickstart.Wait() }()
	if err := c.wait(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the cluster has not come up, see %s: %w", log.Name(), err), c.close())
	}
	return c, nil
}

// wait returns once all nodes are ready.
func (c *cluster) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterUp)
	defer cancel()
	problem := errors.New("no kubeconfig yet")
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-c.ended:
			c.quickstart = nil
			return false, fmt.Errorf("quickstart has ended: %w", errors.Join(err, problem))
		default:
		}
		problem = c.ready(ctx)
		return problem == nil, nil
	})
	if ctx.Err() != nil {
		err = errors.Join(err, problem)
	}
	return err
}

func (c *cluster) ready(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	if ready < nodes {
		return fmt.Errorf("%d nodes are ready, want %d", ready, nodes)
	}
	return nil
}

// load loads the images of an archive into the cloud's registry.
func (c *cluster) load(ctx context.Context, archive string) error {
	command := exec.CommandContext(ctx, filepath.Join(c.bin, "foocloud"), "image", "load", archive,
		"--endpoint=unix://"+filepath.Join(c.stateDir, "cloud", "foocloud.sock"), "--token-file="+filepath.Join(c.stateDir, "cloud", "token"))
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}

// close deletes the cluster unless another process created it.
func (c *cluster) close() error {
	if c.quickstart == nil {
		return nil
	}
	fmt.Println("deleting the cluster")
	if err := c.quickstart.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	<-c.ended // it reports that it was interrupted
	return nil
}
