// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
)

// origin is where the workload cluster comes from.
type origin int

const (
	// created is a cluster that this run created.
	created origin = iota
	// found is a cluster that already existed.
	found
)

// mayFail reports whether a run goes on in spite of an error: a cluster that existed can be repaired only
// while everything runs.
func (o origin) mayFail(err error) bool {
	var failed *FailedError
	return o == found && errors.As(err, &failed)
}

// report shows the finished cluster: its tree, its nodes, the time that each phase took, and the
// next steps.
type report struct {
	config Config
	// reached is empty for a cluster that already existed.
	reached []progress.Reached
}

func (r report) write(ctx context.Context, out io.Writer) error {
	config := r.config
	tree, err := config.output(ctx, config.program("tools/clusterctl"), "describe", "cluster", config.ClusterName,
		"--namespace="+config.Namespace, "--kubeconfig="+config.managementKubeconfig())
	if err != nil {
		return err
	}
	nodes, err := config.output(ctx, config.kubernetes("kubectl"), "--kubeconfig="+config.workloadKubeconfig(), "get", "nodes", "--output=wide")
	if err != nil {
		return err
	}
	next := nextSteps(config)
	if config.Management {
		next = managementSteps(config)
	}
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n%s%s", tree, nodes, phases(r.reached), next) // the cluster stays even if nobody reads this
	return nil
}

// output runs a program as a user would, but with the state folder as its home, so that it leaves
// no files elsewhere.
func (c Config) output(ctx context.Context, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.StateDir, "CLUSTERCTL_DISABLE_VERSIONCHECK=true"}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(program), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(stdout), nil
}

// phases returns a table with the time of each milestone and the time since the previous one.
func phases(reached []progress.Reached) string {
	if len(reached) == 0 {
		return ""
	}
	var table strings.Builder
	writer := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(writer, "AFTER\tTOOK\tPHASE")
	var before time.Duration
	for _, milestone := range reached {
		_, _ = fmt.Fprintf(writer, "%s\t%s\t%s\n", seconds(milestone.After), seconds(milestone.After-before), milestone.Text)
		before = milestone.After
	}
	_ = writer.Flush() // writing to a strings.Builder cannot fail
	return table.String() + "\n"
}

// nextSteps returns commands to continue with, ready to be copied.
func nextSteps(config Config) string {
	kubectl := config.kubernetes("kubectl")
	management := fmt.Sprintf("%s --kubeconfig %s --namespace %s", kubectl, config.managementKubeconfig(), config.Namespace)
	return printed([]step{
		{"Use the cluster", fmt.Sprintf("export KUBECONFIG=%s\n  %s get pods --all-namespaces", config.workloadKubeconfig(), kubectl)},
		{"Scale the workers", fmt.Sprintf("%s scale machinepool %s-workers --replicas=5", management, config.ClusterName)},
		{"Scale the control plane", fmt.Sprintf("%s scale foocontrolplane %s-control-plane --replicas=3", management, config.ClusterName)},
		{"Inspect it", fmt.Sprintf("%s describe cluster %s --namespace %s --kubeconfig %s", config.program("tools/clusterctl"), config.ClusterName, config.Namespace, config.managementKubeconfig())},
		{"Delete it", fmt.Sprintf("%s delete cluster %s", management, config.ClusterName)},
	})
}

// Kubectl is the kubectl for commands that users are told: theirs, or else the one of this release or
// build.
func (c Config) Kubectl() string {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return "kubectl"
	}
	if built := c.builtVersions(); len(built) > 0 && !slices.Contains(built, c.KubernetesVersion) {
		c.KubernetesVersion = built[len(built)-1]
	}
	return c.kubernetes("kubectl")
}

// step is something that a user can do next.
type step struct{ what, command string }

func printed(steps []step) string {
	var text strings.Builder
	for _, one := range steps {
		_, _ = fmt.Fprintf(&text, "%s:\n  %s\n", one.what, one.command)
	}
	return text.String()
}
