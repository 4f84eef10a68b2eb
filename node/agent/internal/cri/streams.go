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
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/crilog"
)

// headerTimeout bounds how long a client may take to send a request's header.
const headerTimeout = 10 * time.Second

// streams serves exec, attach and port-forward. It listens on the loopback address only: the kubelet, which checks who may
// do what, is its one client, and each URL that it gets works once.
type streams struct {
	runtime *Runtime
	server  streaming.Server
	http    *http.Server
}

func newStreams(r *Runtime) (*streams, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("streaming server: %w", err)
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	s := &streams{runtime: r}
	if s.server, err = streaming.NewServer(config, s); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("streaming server: %w", err)
	}
	s.http = &http.Server{Handler: s.server, ReadHeaderTimeout: headerTimeout}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.config.Log.Error("Streaming server ended", "error", err)
		}
	}()
	return s, nil
}

func (s *streams) close() {
	if err := s.http.Close(); err != nil {
		s.runtime.config.Log.Warn("Can not close streaming server", "error", err)
	}
}

// Exec answers with the URL at which a command can be run.
func (r *Runtime) Exec(_ context.Context, req *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if _, err := r.running(req.GetContainerId()); err != nil {
		return nil, err
	}
	return r.streams.server.GetExec(req)
}

// Attach answers with the URL at which a container's output can be followed.
func (r *Runtime) Attach(_ context.Context, req *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if _, err := r.running(req.GetContainerId()); err != nil {
		return nil, err
	}
	return r.streams.server.GetAttach(req)
}

// PortForward answers with the URL at which a pod's ports can be reached.
func (r *Runtime) PortForward(_ context.Context, req *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if _, err := r.target(req.GetPodSandboxId()); err != nil {
		return nil, err
	}
	return r.streams.server.GetPortForward(req)
}

func (r *Runtime) running(containerID string) (*container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[containerID]
	if !ok {
		return nil, notFound(containerID)
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is not running", containerID)
	}
	return c, nil
}

// target is the address that a pod's ports are reached at.
func (r *Runtime) target(sandboxID string) (netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := r.sandboxes[sandboxID]
	if !ok {
		return netip.Addr{}, status.Errorf(codes.NotFound, "sandbox %q is not known", sandboxID)
	}
	if pod.owned {
		return pod.addresses[0], nil
	}
	return netip.MustParseAddr("127.0.0.1"), nil
}

// Attach is part of streaming.Runtime: it follows a process's output. Input goes nowhere, since no program reads any.
func (s *streams) Attach(ctx context.Context, containerID string, _ io.Reader, stdout, stderr io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	c, err := s.runtime.running(containerID)
	if err != nil {
		return err
	}
	if c.process == nil {
		return say(stdout, simulationNotice)
	}
	writers := map[crilog.Stream]io.Writer{}
	if stdout != nil {
		writers[crilog.Stdout] = stdout
	}
	if stderr != nil {
		writers[crilog.Stderr] = stderr
	}
	defer c.output.add(writers)()
	select {
	case <-ctx.Done():
	case <-c.output.done:
	}
	return nil
}

// PortForward is part of streaming.Runtime: it connects a stream with a port of a pod.
func (s *streams) PortForward(ctx context.Context, sandboxID string, port int32, stream io.ReadWriteCloser) error {
	defer func() { _ = stream.Close() }()
	target, err := s.runtime.target(sandboxID)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(target.String(), strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("forward to port %d: %w", port, err)
	}
	defer func() { _ = conn.Close() }()
	return join(conn, stream)
}

// join copies both ways until the port's side has ended, or the client's side has and the port's has answered.
func join(conn net.Conn, stream io.ReadWriteCloser) error {
	var up sync.WaitGroup
	up.Go(func() {
		// An error here is the client going away; the copy below ends with it.
		_, _ = io.Copy(conn, stream)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	})
	_, err := io.Copy(stream, conn)
	_ = stream.Close()
	_ = conn.Close()
	up.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("forward port: %w", err)
	}
	return nil
}

func say(writer io.Writer, text string) error {
	if writer == nil {
		return nil
	}
	if _, err := fmt.Fprintln(writer, text); err != nil {
		return fmt.Errorf("write to client: %w", err)
	}
	return nil
}
