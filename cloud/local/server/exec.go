// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	utilexec "k8s.io/utils/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// execIdleTimeout is how long a command may be silent while its caller sends nothing either, not
// even pings.
const execIdleTimeout = 4 * time.Hour

// lastAnswerTime is how long a caller may take to read how its command ended.
const lastAnswerTime = 10 * time.Second

// goneInterval is how often the kernel is asked whether a caller has gone.
const goneInterval = time.Second

// execInInstance runs a command in an instance. It answers as a kubelet does, so that every client
// of `kubectl exec` can be a client of this call.
func execInInstance(b Backend, w http.ResponseWriter, r *http.Request) error {
	command := r.URL.Query()[api.ParameterCommand]
	if err := b.CheckExec(r.Context(), r.PathValue("id"), command); err != nil {
		return err
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		return &cloud.InvalidError{Field: "query", Value: r.URL.RawQuery, Problem: err.Error()}
	}
	if upgrade := r.Header.Get(httpstream.HeaderUpgrade); !httpstream.IsUpgradeRequest(r) || !strings.EqualFold(upgrade, spdy.HeaderSpdy31) {
		return &cloud.InvalidError{Field: httpstream.HeaderUpgrade, Value: upgrade, Problem: "is not what the call upgrades to", Allowed: []string{spdy.HeaderSpdy31}}
	}
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	upgraded := &upgradable{ResponseWriter: w, gone: gone, done: ctx.Done()}
	defer upgraded.close()
	remotecommand.ServeExec(upgraded, r.WithContext(ctx), executor{b}, r.PathValue("id"), "", "", command, options,
		execIdleTimeout, remotecommand.DefaultStreamCreationTimeout, remotecommand.SupportedStreamingProtocols)
	return nil
}

// executor runs commands for package remotecommand, in an instance instead of a container.
type executor struct{ Backend }

var _ remotecommand.Executor = executor{}

// ExecInContainer implements remotecommand.Executor. The name is the ID of an instance.
func (e executor) ExecInContainer(
	ctx context.Context, id, _, _ string, command []string, in io.Reader, out, errOut io.WriteCloser, terminal bool,
	resize <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	run := engine.Exec{Command: command, Terminal: terminal, Stdin: in, Resize: resize}
	// A nil stream must not become an interface that is not nil.
	if out != nil {
		run.Stdout = out
	}
	if errOut != nil {
		run.Stderr = errOut
	}
	code, err := e.Exec(ctx, id, run)
	if err == nil && code != 0 {
		err = utilexec.CodeExitError{Err: fmt.Errorf("exit code %d", code), Code: code}
	}
	return err
}

// upgradable reports when the caller of an upgraded connection has gone. The server itself reports
// that only of other connections.
type upgradable struct {
	http.ResponseWriter
	gone func()
	// done is closed after gone has been called.
	done <-chan struct{}
	conn net.Conn
}

// close closes the connection once the caller had time to read the last answer. The library leaves
// it open if the caller never opened all streams.
func (u *upgradable) close() {
	if u.conn != nil {
		time.AfterFunc(lastAnswerTime, func() { _ = u.conn.Close() })
	}
}

// Hijack implements http.Hijacker.
func (u *upgradable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	watched := &watchedConn{Conn: conn, reader: buffered.Reader, gone: u.gone}
	u.conn = watched
	go watched.watch(u.done)
	return watched, bufio.NewReadWriter(bufio.NewReader(watched), bufio.NewWriter(watched)), nil
}

// watchedConn is a connection that reports when the caller has gone. Usually, a read fails then. A
// caller that ends the connection in an orderly way is not read from any more, and the connection is
// closed. A command that does not read its input stops all reading, so watch looks without reading.
type watchedConn struct {
	net.Conn
	// reader has what was received before the connection was taken over.
	reader io.Reader
	gone   func()
}

func (c *watchedConn) Read(buffer []byte) (int, error) {
	count, err := c.reader.Read(buffer)
	if err != nil {
		c.gone()
	}
	return count, err
}

// watch asks the kernel once per goneInterval whether the caller has gone, until done is closed. It
// polls, because only a reader can wait. Over a network, a caller's end arrives after the input before
// it, or once the caller's kernel gives up sending that, after minutes.
func (c *watchedConn) watch(done <-chan struct{}) {
	raw, err := rawConn(c.Conn)
	if err != nil {
		klog.Background().Error(err, "A command that reads no input does not end when its caller goes")
		return
	}
	tick := time.NewTicker(goneInterval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if err := raw.Control(func(fd uintptr) { ended = hungUp(fd) }); err != nil {
			ended = true
		}
	}
	c.gone()
}

// rawConn returns the socket of a connection, under layers such as TLS.
func rawConn(conn net.Conn) (syscall.RawConn, error) {
	for {
		layer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = layer.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("a connection of type %T has no socket", conn)
	}
	return socket.SyscallConn()
}

// hungUp reports whether the other side of a socket has closed it, or sends no more.
func hungUp(fd uintptr) bool {
	state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	count, err := unix.Poll(state, 0)
	return err == nil && count > 0
}

// Close implements net.Conn.
func (c *watchedConn) Close() error {
	c.gone()
	return c.Conn.Close()
}
