/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// maxSyncOutput bounds what ExecSync keeps of each stream, in bytes, as the interface asks.
const maxSyncOutput = 16 << 20

// simulatedExec is the answer to whoever wants to run a command in a simulated container.
const simulatedExec = "this container is simulated by Foo: nothing runs in it, so no command can be run there"

// ExecSync runs a command in a container and returns its output. In a simulated container nothing runs and every command
// ends well, so that probes and lifecycle hooks that execute something succeed.
func (r *Runtime) ExecSync(ctx context.Context, req *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	c, err := r.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	if c.process == nil {
		return &runtimeapi.ExecSyncResponse{}, nil
	}
	if timeout := req.GetTimeout(); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(timeout)*time.Second)
		defer cancel()
	}
	var stdout, stderr limited
	code, err := r.execute(ctx, c, command{args: req.GetCmd(), stdout: &stdout, stderr: &stderr})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, status.Errorf(codes.DeadlineExceeded, "command did not end within %d seconds", req.GetTimeout())
	}
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &runtimeapi.ExecSyncResponse{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: int32(code)}, nil
}

// Exec is part of streaming.Runtime: it runs a command with its streams connected to the client's.
func (s *streams) Exec(ctx context.Context, containerID string, args []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.runtime.running(containerID)
	if err != nil {
		return err
	}
	if c.process == nil {
		return errors.New(simulatedExec)
	}
	cmd := command{args: args, stdin: in}
	if out != nil {
		cmd.stdout = out
	}
	if errOut != nil {
		cmd.stderr = errOut
	}
	run := s.runtime.execute
	if tty {
		cmd.resize = resize
		run = s.runtime.executeOnTerminal
	}
	code, err := run(ctx, c, cmd)
	if err != nil {
		return err
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// command is what to execute in a process's container, and the client's ends of its streams, each of which may be nil.
type command struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	resize         <-chan remotecommand.TerminalSize
}

func (r *Runtime) spec(c *container, args []string) (process.Spec, error) {
	if len(args) == 0 {
		return process.Spec{}, errors.New("no command was given")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return process.Spec{}, fmt.Errorf("command %q is not in the instance's PATH", args[0])
	}
	return process.Spec{
		Path:       path,
		Args:       slices.Clone(args),
		Env:        r.environment(c.config),
		Dir:        c.config.GetWorkingDir(),
		Credential: credential(c.config),
		KillGroup:  true,
	}, nil
}

// execute runs a command with pipes and returns its exit code.
func (r *Runtime) execute(ctx context.Context, c *container, cmd command) (int, error) {
	spec, err := r.spec(c, cmd.args)
	if err != nil {
		return 0, err
	}
	var pipes pipes
	defer pipes.closeEnds()
	if err := pipes.connect(&spec, cmd); err != nil {
		return 0, err
	}
	proc, err := r.config.Starter.Start(spec)
	pipes.closeEnds()
	if err != nil {
		return 0, err
	}
	if err := await(ctx, proc); err != nil {
		return 0, err
	}
	pipes.copies.Wait()
	return proc.Exit().Code, nil
}

// pipes connect a command with the client's streams.
type pipes struct {
	ends   []*os.File // the command's ends
	copies sync.WaitGroup
}

func (p *pipes) connect(spec *process.Spec, cmd command) error {
	var err error
	if spec.Stdout, err = p.output(cmd.stdout); err != nil {
		return err
	}
	if spec.Stderr, err = p.output(cmd.stderr); err != nil {
		return err
	}
	spec.Stdin, err = p.input(cmd.stdin)
	return err
}

func (p *pipes) output(writer io.Writer) (*os.File, error) {
	if writer == nil {
		return nil, nil
	}
	out, err := newOutput()
	if err != nil {
		return nil, err
	}
	p.ends = append(p.ends, out.write)
	p.copies.Go(func() {
		defer func() { _ = out.read.Close() }()
		_, _ = io.Copy(writer, out.read) // a client that went away is seen by the context
	})
	return out.write, nil
}

func (p *pipes) input(reader io.Reader) (*os.File, error) {
	if reader == nil {
		return nil, nil
	}
	in, err := newOutput()
	if err != nil {
		return nil, err
	}
	p.ends = append(p.ends, in.read)
	go func() {
		defer func() { _ = in.write.Close() }()
		_, _ = io.Copy(in.write, reader)
	}()
	return in.read, nil
}

// closeEnds closes the command's ends, which a command that runs has for itself.
func (p *pipes) closeEnds() {
	for _, end := range p.ends {
		_ = end.Close()
	}
	p.ends = nil
}

// executeOnTerminal runs a command on a terminal of its own and returns its exit code.
func (r *Runtime) executeOnTerminal(ctx context.Context, c *container, cmd command) (int, error) {
	spec, err := r.spec(c, cmd.args)
	if err != nil {
		return 0, err
	}
	master, slave, err := pty.Open()
	if err != nil {
		return 0, fmt.Errorf("terminal: %w", err)
	}
	defer func() { _ = master.Close() }()
	spec.Stdin, spec.Stdout, spec.Stderr, spec.Terminal = slave, slave, slave, true
	spec.Env = append(spec.Env, "TERM=xterm")
	proc, err := r.config.Starter.Start(spec)
	_ = slave.Close()
	if err != nil {
		return 0, err
	}
	go resizeTerminal(ctx, master, cmd.resize)
	if cmd.stdin != nil {
		go func() { _, _ = io.Copy(master, cmd.stdin) }()
	}
	var copies sync.WaitGroup
	if cmd.stdout != nil {
		// Reading a terminal whose last program ended is an error, and the ordinary end.
		copies.Go(func() { _, _ = io.Copy(cmd.stdout, master) })
	}
	if err := await(ctx, proc); err != nil {
		return 0, err
	}
	copies.Wait()
	return proc.Exit().Code, nil
}

func resizeTerminal(ctx context.Context, terminal *os.File, sizes <-chan remotecommand.TerminalSize) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			// A terminal that is gone has no size to set; the command's end is seen elsewhere.
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}
}

// await waits for a command's end, and kills it when ctx is done.
func await(ctx context.Context, proc *process.Process) error {
	select {
	case <-proc.Done():
		return nil
	case <-ctx.Done():
		proc.Stop(context.WithoutCancel(ctx), syscall.SIGKILL, 0)
		return ctx.Err()
	}
}

// exitError tells the streaming server a command's exit code.
type exitError int

// Error says the code.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// String says the code.
func (e exitError) String() string { return e.Error() }

// Exited says that the command ended by itself.
func (e exitError) Exited() bool { return true }

// ExitStatus is the code.
func (e exitError) ExitStatus() int { return int(e) }

// limited keeps the first bytes that are written and drops the rest.
type limited struct{ bytes.Buffer }

// Write keeps what has room.
func (l *limited) Write(data []byte) (int, error) {
	if room := maxSyncOutput - l.Len(); room > 0 {
		l.Buffer.Write(data[:min(room, len(data))])
	}
	return len(data), nil
}
