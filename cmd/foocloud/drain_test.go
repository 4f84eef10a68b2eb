// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	utilexec "k8s.io/utils/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// serveNode serves an instance of a control plane, in which a handler runs commands.
func serveNode(t *testing.T, exec http.HandlerFunc) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathInstances, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, api.Instances{Items: []cloud.Instance{{
			ID: "i1", Name: "a", Hostname: "node-a", State: cloud.InstanceRunning, Bootstrap: cloud.Bootstrap{State: cloud.BootstrapSucceeded},
			Tags: cloud.Tags{ownertags.ClusterKey: "default/demo", ownertags.RoleKey: string(ownertags.RoleControlPlane)},
		}}})
	})
	mux.HandleFunc("POST "+api.PathInstances+"/i1"+api.SuffixExec, exec)
	serve(t, mux)
}

// kubectl stands in for the program in an instance: it says something and ends with an exit code.
type kubectl struct {
	says string
	code int
	// ran is the command that it was.
	ran []string
}

func (k *kubectl) ExecInContainer(
	_ context.Context, _, _, _ string, command []string, _ io.Reader, _, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	k.ran = command
	_, err := io.WriteString(errOut, k.says)
	if err == nil && k.code != 0 {
		err = utilexec.CodeExitError{Err: errors.New("failed"), Code: k.code}
	}
	return err
}

func (k *kubectl) serve(t *testing.T) {
	t.Helper()
	serveNode(t, func(w http.ResponseWriter, r *http.Request) {
		command := r.URL.Query()[api.ParameterCommand]
		remotecommand.ServeExec(w, r, k, "i1", "", "", command, &remotecommand.Options{Stdout: true, Stderr: true}, time.Minute, time.Minute,
			remotecommand.SupportedStreamingProtocols)
	})
}

// kubectl says what keeps Pods on the Node, but not that this Node is not what it was before.
func TestDrainThatFails(t *testing.T) {
	g := NewWithT(t)
	const says = "error: unable to drain node, cannot delete Pods that declare no controller (use --force to override): default/bare\n"
	k := &kubectl{says: says, code: 1}
	k.serve(t)
	g.Expect(runCommand("instance", "drain", "a")).To(Equal(said{code: exitFailed, errOut: says +
		"foocloud: drain instance a (i1): kubectl failed, and a Node that it has cordoned stays so: " +
		"do what it says and repeat this, or let Pods onto the Node again with: kubectl uncordon node-a\n"}))
	g.Expect(k.ran).NotTo(ContainElement("--force"))
}

func TestDrainOfPodsWithoutController(t *testing.T) {
	g := NewWithT(t)
	k := &kubectl{says: "node/node-a drained\n"}
	k.serve(t)
	g.Expect(runCommand("instance", "drain", "a", "--force")).To(Equal(said{errOut: k.says}))
	g.Expect(k.ran).To(And(HaveExactElements("kubectl", Not(BeEmpty()), "drain", "node-a", Not(BeEmpty()), Not(BeEmpty()), "--timeout=5m", "--force")))
}

// Whoever interrupts a command that leaves something half done learns what to do.
func TestInterruptedDrain(t *testing.T) {
	g := NewWithT(t)
	ctx, interrupt := context.WithCancel(t.Context())
	serveNode(t, func(w http.ResponseWriter, r *http.Request) {
		connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(httpstream.Stream, <-chan struct{}) error { return nil })
		interrupt()
		<-connection.CloseChan()
	})
	var errOut bytes.Buffer
	command := newCommand()
	command.SetArgs([]string{"instance", "drain", "a"})
	command.SetErr(&errOut)
	g.Expect(report(command, command.ExecuteContext(ctx))).To(Equal(exitInterrupted))
	g.Expect(errOut.String()).To(Equal("foocloud: interrupted; repeat it, or let Pods onto the Node again with: kubectl uncordon node-a\n"))
}
