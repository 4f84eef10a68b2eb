// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// terminalTimeout is how long the runtime may take to hand over a terminal after it has started the
// command.
const terminalTimeout = 10 * time.Second

// session connects a caller's streams with a command, through pipes or through a terminal.
type session struct {
	command engine.Exec
	// terminal is the socket on which the runtime hands over the terminal; nil without one.
	terminal *net.UnixListener
	// given are the command's ends of the pipes: input, output and error output.
	given [3]*os.File
	// input is what the command reads from, and outputs is what it writes to.
	input   *os.File
	outputs []output
	// copied is closed once all output has been copied, and closed with the session.
	copied, closed chan struct{}
}

type output struct {
	from *os.File
	to   io.Writer
}

// newSession prepares a session. The folder is for the socket.
func newSession(folder string, command engine.Exec) (*session, error) {
	s := &session{command: command, copied: make(chan struct{}), closed: make(chan struct{})}
	open := s.openPipes
	if command.Terminal {
		open = func() (err error) {
			s.terminal, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, consoleSocket), Net: "unix"})
			return err
		}
	}
	if err := open(); err != nil {
		s.close()
		return nil, fmt.Errorf("connect the command: %w", err)
	}
	return s, nil
}

func (s *session) openPipes() (err error) {
	if s.command.Stdin != nil {
		if s.given[0], s.input, err = os.Pipe(); err != nil {
			return err
		}
	}
	for i, to := range []io.Writer{s.command.Stdout, s.command.Stderr} {
		if to == nil {
			continue
		}
		from, given, err := os.Pipe()
		if err != nil {
			return err
		}
		s.given[i+1] = given
		s.outputs = append(s.outputs, output{from: from, to: to})
	}
	return nil
}

// attach gives the command its ends of the pipes.
func (s *session) attach(command *exec.Cmd) {
	if s.given[0] != nil {
		command.Stdin = s.given[0]
	}
	if s.given[1] != nil {
		command.Stdout = s.given[1]
	}
	if s.given[2] != nil {
		command.Stderr = s.given[2]
	}
}

// start begins to copy, once the command has been started.
func (s *session) start() error {
	if s.terminal != nil {
		terminal, err := receiveFile(s.terminal)
		if err != nil {
			return fmt.Errorf("receive the command's terminal: %w", err)
		}
		s.input = terminal
		// Somebody has to read what the command writes, or it would wait.
		to := s.command.Stdout
		if to == nil {
			to = io.Discard
		}
		s.outputs = []output{{from: terminal, to: to}}
		go s.resize()
	}
	// Only the command may hold these, so that the pipes end with it.
	s.closeGiven()
	if s.input != nil && s.command.Stdin != nil {
		go s.copyInput()
	}
	var copying sync.WaitGroup
	for _, one := range s.outputs {
		copying.Go(func() {
			// Reading a terminal fails once the command has closed it. If the caller has gone, the
			// command is killed.
			_, _ = io.Copy(one.to, one.from)
		})
	}
	go func() {
		copying.Wait()
		close(s.copied)
	}()
	return nil
}

func (s *session) copyInput() {
	_, _ = io.Copy(s.input, s.command.Stdin) // the command may end before its input does
	if s.terminal == nil {
		_ = s.input.Close()
	}
}

// resize applies the sizes of the caller's terminal until the session ends.
func (s *session) resize() {
	for {
		select {
		case <-s.closed:
			return
		case size, ok := <-s.command.Resize:
			if !ok {
				return
			}
			_ = setSize(s.input, size) // a wrong size is better than no session
		}
	}
}

func setSize(terminal *os.File, size remotecommand.TerminalSize) error {
	conn, err := terminal.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
	})
	return errors.Join(err, failed)
}

// drain waits until all of the command's output is copied or ctx ends.
func (s *session) drain(ctx context.Context) {
	select {
	case <-s.copied:
	case <-ctx.Done():
	}
}

func (s *session) close() {
	close(s.closed)
	s.closeGiven()
	if s.terminal != nil {
		_ = s.terminal.Close()
	}
	if s.input != nil {
		_ = s.input.Close()
	}
	for _, one := range s.outputs {
		_ = one.from.Close()
	}
}

func (s *session) closeGiven() {
	for _, file := range s.given {
		if file != nil {
			_ = file.Close()
		}
	}
}

// receiveFile receives an open file over a socket.
func receiveFile(listener *net.UnixListener) (*os.File, error) {
	if err := listener.SetDeadline(time.Now().Add(terminalTimeout)); err != nil {
		return nil, err
	}
	conn, err := listener.AcceptUnix()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(terminalTimeout)); err != nil {
		return nil, err
	}
	// The runtime sends the name of the terminal with it.
	name, rights := make([]byte, unix.PathMax), make([]byte, unix.CmsgSpace(4))
	_, count, _, _, err := conn.ReadMsgUnix(name, rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:count])
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, fmt.Errorf("the runtime sent %d control messages, not 1", len(messages))
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("the runtime sent %d files, not 1", len(files))
	}
	// Non-blocking, so that closing the file ends a read.
	if err := unix.SetNonblock(files[0], true); err != nil {
		return nil, errors.Join(err, unix.Close(files[0]))
	}
	return os.NewFile(uintptr(files[0]), "terminal"), nil
}
