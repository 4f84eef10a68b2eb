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
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/podip"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

const (
	// Name of the runtime, which a node shows in status.nodeInfo.containerRuntimeVersion.
	Name = "foo-process"
	// Version of the runtime.
	Version = "0.1.0"
	// Socket is where the runtime is served: the path that kubeadm takes where it is given none.
	Socket = "/run/containerd/containerd.sock"

	apiVersion = "v1"
	// kubeletAPIVersion is the one that every kubelet asks for, whatever version of the interface it speaks.
	kubeletAPIVersion = "0.1.0"
)

// Starter starts processes.
type Starter interface {
	// Start starts a process.
	Start(spec process.Spec) (*process.Process, error)
}

// Network makes the addresses of pods answer.
type Network interface {
	// Serve makes every address of the ranges answer, besides those that were served before.
	Serve(ranges []netip.Prefix) error
}

// Config is what a runtime needs.
type Config struct {
	// Address of the instance, which pods on the host network have.
	Address netip.Addr
	// Programs is the folder of the control plane programs.
	Programs string
	// Path is the variable PATH that processes get.
	Path string
	// Starter starts processes.
	Starter Starter
	// Addresses of pods.
	Addresses *podip.Pool
	// Network of pods.
	Network Network
	// Answerer for the pods on the host network.
	Answerer Answerer
	// Log of the agent.
	Log *slog.Logger
}

// Runtime serves the runtime service and the image service.
type Runtime struct {
	runtimeapi.UnimplementedRuntimeServiceServer

	config  Config
	images  *images
	events  *events
	streams *streams
	server  *grpc.Server

	mu         sync.Mutex
	gate       networkGate
	closing    bool
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

// New returns a runtime without pods.
func New(config Config) (*Runtime, error) {
	r := &Runtime{
		config:     config,
		images:     newImages(),
		events:     newEvents(),
		server:     grpc.NewServer(),
		sandboxes:  map[string]*sandbox{},
		containers: map[string]*container{},
	}
	streams, err := newStreams(r)
	if err != nil {
		return nil, err
	}
	r.streams = streams
	runtimeapi.RegisterRuntimeServiceServer(r.server, r)
	runtimeapi.RegisterImageServiceServer(r.server, r.images)
	return r, nil
}

// Listen opens the socket, so that clients can connect before Serve runs.
func Listen(socket string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o750); err != nil {
		return nil, fmt.Errorf("runtime socket: %w", err)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("runtime socket: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("runtime socket: %w", err)
	}
	return listener, nil
}

// Serve answers on the listener until Close.
func (r *Runtime) Serve(listener net.Listener) error {
	if err := r.server.Serve(listener); err != nil {
		return fmt.Errorf("serve runtime: %w", err)
	}
	return nil
}

// Close stops all containers, in the order of stopOrder, and then answers no more. Each step has the given time.
func (r *Runtime) Close(ctx context.Context, grace time.Duration) {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	for _, step := range stopOrder {
		r.stopAll(ctx, step, grace)
	}
	r.streams.close()
	r.server.Stop()
}

func newID() (string, error) {
	id := make([]byte, 32)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("make an ID: %w", err)
	}
	return hex.EncodeToString(id), nil
}
