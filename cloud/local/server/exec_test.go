// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

func (w *world) running(name string) cloud.Instance {
	w.t.Helper()
	made, err := w.client.EnsureInstance(ctx, instanceSpec(name))
	w.Expect(err).NotTo(HaveOccurred())
	w.eventuallyState(made.ID, cloud.InstanceRunning)
	return made
}

func TestExec(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	var out, errOut bytes.Buffer
	w.Expect(w.client.Exec(ctx, instance.ID, client.ExecOptions{
		Command: []string{"echo", "a b", "&c=d"}, Stdin: strings.NewReader("the input"), Stdout: &out, Stderr: &errOut,
	})).To(Succeed())
	w.Expect(out.String()).To(Equal("the input"))
	w.Expect(errOut.String()).To(Equal("echo a b &c=d"))

	err := w.client.Exec(ctx, instance.ID, client.ExecOptions{Command: []string{"exit"}, Stdout: &out})
	var exit utilexec.ExitError
	w.Expect(errors.As(err, &exit)).To(BeTrue(), "%v", err)
	w.Expect(exit.ExitStatus()).To(Equal(3))
}

// sizes delivers one size of a terminal.
type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	if size, ok := <-s; ok {
		return &size
	}
	return nil
}

func TestExecInTerminal(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	queue := make(sizes, 1)
	queue <- remotecommand.TerminalSize{Width: 80, Height: 25}
	close(queue)
	var out bytes.Buffer
	w.Expect(w.client.Exec(ctx, instance.ID, client.ExecOptions{
		Command: []string{"size"}, Stdin: strings.NewReader(""), Stdout: &out, Terminal: true, Sizes: queue,
	})).To(Succeed())
	w.Expect(out.String()).To(Equal("80x25"))
}

func TestCommandEndsWithItsCaller(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	started := make(chan struct{})
	go func() {
		ended <- w.client.Exec(running, instance.ID, client.ExecOptions{Command: []string{"wait"}, Stderr: notice(started)})
	}()
	w.Eventually(started, soon).Should(BeClosed())
	stop()
	w.Eventually(ended, soon).Should(Receive(MatchError(context.Canceled)))
	w.Eventually(w.machines.Interrupted, soon).Should(Equal(1))
}

// The end of the connection can be mistaken for the end of the command.
func TestAnInterruptedCommandHasNotSucceeded(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	for range 100 {
		running, stop := context.WithCancel(ctx)
		queue := make(sizes, 1)
		queue <- remotecommand.TerminalSize{Width: 80, Height: 25}
		close(queue)
		err := w.client.Exec(running, instance.ID, client.ExecOptions{
			Command: []string{"size"}, Stdin: strings.NewReader(""), Stdout: stopping(stop), Terminal: true, Sizes: queue,
		})
		w.Expect(err).To(MatchError(context.Canceled))
	}
}

// stopping ends a command when it says something.
type stopping context.CancelFunc

func (s stopping) Write(text []byte) (int, error) {
	s()
	return len(text), nil
}

func TestCommandThatReadsNoInputEndsWithItsCaller(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	running, stop := context.WithCancel(ctx)
	ended, input := make(chan error), &zeros{}
	go func() {
		ended <- w.overSocket(t).Exec(running, instance.ID, client.ExecOptions{Command: []string{"wait"}, Stdin: input})
	}()
	w.Eventually(func(g Gomega) {
		before := input.sent.Load()
		g.Expect(before).NotTo(BeZero())
		g.Consistently(input.sent.Load, "300ms").Should(Equal(before), "the connection is full")
	}, soon).Should(Succeed())
	stop()
	w.Eventually(ended, soon).Should(Receive(MatchError(context.Canceled)))
	w.Eventually(w.machines.Interrupted, soon).Should(Equal(1))
}

// zeros is input without end.
type zeros struct{ sent atomic.Int64 }

// Read implements io.Reader.
func (z *zeros) Read(buffer []byte) (int, error) {
	clear(buffer)
	z.sent.Add(int64(len(buffer)))
	return len(buffer), nil
}

// notice is closed at the first write.
type notice chan struct{}

func (n notice) Write(text []byte) (int, error) {
	close(n)
	return len(text), nil
}

func TestExecIsRefused(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	var out bytes.Buffer
	run := func(c *client.Client, id string, command ...string) error {
		return c.Exec(ctx, id, client.ExecOptions{Command: command, Stdout: &out})
	}
	w.Expect(cloud.IsNotFound(run(w.other, instance.ID, "true"))).To(BeTrue(), "another tenant's instance")
	w.Expect(cloud.IsNotFound(run(w.client, "nothing", "true"))).To(BeTrue())
	w.Expect(cloud.IsInvalid(run(w.client, instance.ID, ""))).To(BeTrue())
	w.Expect(cloud.IsUnauthorized(run(w.as("wrong"), instance.ID, "true"))).To(BeTrue())
	w.Expect(cloud.IsInvalid(w.client.Exec(ctx, instance.ID, client.ExecOptions{Command: []string{"true"}}))).To(BeTrue(), "no streams")
	w.Expect(w.client.SwitchInstance(ctx, instance.ID, "freeze")).To(Succeed())
	w.Eventually(func() error { return run(w.client, instance.ID, "true") }, soon).Should(And(Satisfy(cloud.IsInvalid), MatchError(ContainSubstring("frozen"))))
	w.Expect(w.client.SwitchInstance(ctx, instance.ID, "stop")).To(Succeed())
	w.eventuallyState(instance.ID, cloud.InstanceStopped)
	w.Expect(run(w.client, instance.ID, "true")).To(And(Satisfy(cloud.IsInvalid), MatchError(ContainSubstring("Stopped"))))

	dead, err := client.NewClient(client.Options{Endpoint: "unix:///nowhere/foocloud.sock", Token: "x"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(cloud.IsUnavailable(run(dead, instance.ID, "true"))).To(BeTrue())
	w.Expect(out.String()).To(BeEmpty())
}

func TestExecNeedsAStream(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.endpoint+"/v1/instances/"+instance.ID+"/exec?command=true&output=1", nil)
	w.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+tokenA)
	response, err := w.http().Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(response.StatusCode).To(Equal(http.StatusUnprocessableEntity))
}

func TestLogOptionsAreChecked(t *testing.T) {
	w := newWorld(t)
	instance := w.running("one")
	log, err := w.client.Log(ctx, instance.ID, client.LogOptions{Tail: ptr.To(3), Since: time.Now()})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log.Close()).To(Succeed())
	for _, lines := range []int{-1, 100_001} {
		_, err = w.client.Log(ctx, instance.ID, client.LogOptions{Tail: ptr.To(lines)})
		w.Expect(err).To(And(Satisfy(cloud.IsInvalid), MatchError(ContainSubstring("tail")), MatchError(ContainSubstring("0 to 100000"))))
	}
}
