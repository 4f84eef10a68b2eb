// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// adminConfig is the administrator's kubeconfig on an instance of a control plane.
const adminConfig = "/etc/kubernetes/admin.conf"

// shell runs the best shell there is. On an instance of a control plane, kubectl works in it.
const shell = `cd; if [ -r ` + adminConfig + ` ]; then export KUBECONFIG=` + adminConfig + `; fi
if command -v bash >/dev/null; then exec bash; fi; exec sh`

// execCommand holds the flags of the commands that run something in an instance.
type execCommand struct {
	connection connection
	noInput    bool
}

func newExecCommand() *cobra.Command {
	e := &execCommand{}
	command := &cobra.Command{
		Use: "exec [flags] NAME -- COMMAND [ARGUMENT...]", DisableFlagsInUseLine: true,
		Short: "Run a command in an instance, as root; on a terminal if it is called from one",
		Example: `  foocloud instance exec demo-control-plane-x7k2p -- ps aux
  foocloud instance exec demo-control-plane-x7k2p -- kubectl --kubeconfig=` + adminConfig + ` get nodes
  tar c . | foocloud instance exec demo-control-plane-x7k2p -- tar x -C /root`,
		Args: cobra.MinimumNArgs(2), ValidArgsFunction: instances.complete(&e.connection, 1),
		RunE: func(command *cobra.Command, args []string) error {
			name, run := args[0], args[1:]
			if run[0] == "--" {
				run = run[1:]
			}
			return e.run(command, name, run...)
		},
	}
	e.addFlags(command)
	// Flags after the name are the command's, even without the two dashes.
	command.Flags().SetInterspersed(false)
	command.Flags().BoolVarP(&e.noInput, "no-input", "n", false, "give the command no input")
	return command
}

func newShellCommand() *cobra.Command {
	e := &execCommand{}
	command := &cobra.Command{
		Use:     "shell NAME",
		Short:   "Open a shell in an instance, as root",
		Example: "  foocloud instance shell demo-control-plane-x7k2p",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: instances.complete(&e.connection, 1),
		RunE: func(command *cobra.Command, args []string) error {
			return e.run(command, args[0], "sh", "-c", shell)
		},
	}
	e.addFlags(command)
	return command
}

func (e *execCommand) addFlags(command *cobra.Command) {
	e.connection.addFlags(command)
	e.connection.addTenantFlag(command)
}

func (e *execCommand) run(command *cobra.Command, name string, arguments ...string) error {
	cloud, err := e.connection.client()
	if err != nil {
		return err
	}
	instance, err := instances.find(command.Context(), cloud, name)
	if err != nil {
		return err
	}
	options := client.ExecOptions{Command: arguments, Stdin: command.InOrStdin(), Stdout: command.OutOrStdout(), Stderr: command.ErrOrStderr()}
	if e.noInput {
		options.Stdin = nil
	}
	return exec(command.Context(), cloud, instance, options)
}

// exec runs a command in an instance, in a terminal if the input and the output are one.
func exec(ctx context.Context, c *client.Client, instance cloud.Instance, options client.ExecOptions) error {
	if terminal, ok := terminalOf(options.Stdin, options.Stdout); ok {
		saved, err := term.MakeRaw(terminal)
		if err != nil {
			return fmt.Errorf("prepare the terminal: %w", err)
		}
		defer func() { _ = term.Restore(terminal, saved) }()
		sizes, stop := followSize(ctx, terminal)
		defer stop()
		options.Terminal, options.Sizes = true, sizes
	}
	if err := c.Exec(ctx, instance.ID, options); err != nil {
		return fmt.Errorf("in instance %s: %w", label(instances.names(instance)), err)
	}
	return nil
}

// terminalOf returns the descriptor of the terminal that both are.
func terminalOf(in io.Reader, out io.Writer) (int, bool) {
	input, isFile := in.(*os.File)
	output, areFiles := out.(*os.File)
	if !isFile || !areFiles || !term.IsTerminal(int(input.Fd())) || !term.IsTerminal(int(output.Fd())) {
		return 0, false
	}
	return int(input.Fd()), true
}

// sizeQueue delivers the sizes of a terminal.
type sizeQueue struct {
	ctx      context.Context
	terminal int
	changed  chan os.Signal
}

// followSize returns a queue with the current size and all later ones.
func followSize(ctx context.Context, terminal int) (q *sizeQueue, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	q = &sizeQueue{ctx: ctx, terminal: terminal, changed: make(chan os.Signal, 1)}
	q.changed <- unix.SIGWINCH
	signal.Notify(q.changed, unix.SIGWINCH)
	return q, func() {
		signal.Stop(q.changed)
		cancel()
	}
}

// Next implements remotecommand.TerminalSizeQueue.
func (q *sizeQueue) Next() *remotecommand.TerminalSize {
	select {
	case <-q.ctx.Done():
		return nil
	case <-q.changed:
	}
	width, height, err := term.GetSize(q.terminal)
	if err != nil {
		return nil
	}
	return &remotecommand.TerminalSize{Width: uint16(width), Height: uint16(height)}
}

func newDrainCommand() *cobra.Command {
	e := &execCommand{}
	var timeout string
	var force bool
	command := &cobra.Command{
		Use:   "drain NAME",
		Short: "Cordon the Node of an instance and evict its Pods",
		Long: `Cordon the Node of an instance and evict its Pods.

This runs kubectl drain on an instance of the cluster's control plane, with the permissions of its administrator. The
instance keeps running. A drain that fails leaves the Node cordoned. kubectl uncordon lets Pods onto the Node again.`,
		Example: "  foocloud instance drain demo-workers-4tq9z",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: instances.complete(&e.connection, 1),
		RunE: func(command *cobra.Command, args []string) error {
			all, err := listOf(command.Context(), &e.connection, instances.list)
			if err != nil {
				return err
			}
			instance, err := instances.pick(all, args[0])
			if err != nil {
				return err
			}
			controlPlane, err := controlPlaneOf(all, instance)
			if err != nil {
				return err
			}
			e.noInput = true
			kubectl := []string{"kubectl", "--kubeconfig=" + adminConfig, "drain", instance.Hostname,
				"--ignore-daemonsets", "--delete-emptydir-data", "--timeout=" + timeout}
			if force {
				kubectl = append(kubectl, "--force")
			}
			return notDrained(e.run(command, controlPlane.ID, kubectl...), instance)
		},
	}
	e.addFlags(command)
	command.Flags().StringVar(&timeout, "timeout", "5m", "how long to wait for the Pods to end; 0s waits forever")
	command.Flags().BoolVar(&force, "force", false, "also delete Pods that no controller creates again")
	return command
}

// notDrained adds to the error of a drain what it may have left behind. If kubectl failed, it has said why.
func notDrained(err error, instance cloud.Instance) error {
	advice := "let Pods onto the Node again with: kubectl uncordon " + instance.Hostname
	var ended utilexec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return fmt.Errorf("drain instance %s: kubectl failed, and a Node that it has cordoned stays so: do what it says and repeat this, or %s",
			label(instances.names(instance)), advice)
	}
	return interrupted(err, "repeat it, or "+advice)
}

// controlPlaneOf returns a running instance of the control plane of an instance's cluster.
func controlPlaneOf(all []cloud.Instance, instance cloud.Instance) (cloud.Instance, error) {
	cluster := instance.Tags[ownertags.ClusterKey]
	if cluster == "" {
		return cloud.Instance{}, fmt.Errorf("instance %s belongs to no cluster: its tag %s is missing", instance.Name, ownertags.ClusterKey)
	}
	for _, one := range all {
		role := ownertags.Role(one.Tags[ownertags.RoleKey])
		if one.Tags[ownertags.ClusterKey] == cluster && role == ownertags.RoleControlPlane && one.State == cloud.InstanceRunning &&
			one.Bootstrap.State == cloud.BootstrapSucceeded {
			return one, nil
		}
	}
	return cloud.Instance{}, errors.New("no instance of the control plane of cluster " + cluster + " runs; see: foocloud instances --cluster=" + cluster)
}
