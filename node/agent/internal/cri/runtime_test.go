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
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/podip"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// network notes what it was asked to serve.
type network struct{ served []netip.Prefix }

func (n *network) Serve(ranges []netip.Prefix) error {
	n.served = append(n.served, ranges...)
	return nil
}

// Answer listens and says nothing.
func (n *network) Answer(address netip.AddrPort) (io.Closer, error) {
	return net.ListenTCP("tcp", net.TCPAddrFromAddrPort(address))
}

// newRuntime returns a runtime whose program etcd is a shell script.
func newRuntime(t *testing.T, script string) (*Runtime, *network) {
	t.Helper()
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "etcd"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	table := process.NewTable()
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		table.Reap(ctx)
	}()
	served := &network{}
	r, err := New(Config{
		Address:   netip.MustParseAddr("10.90.0.2"),
		Programs:  programs,
		Path:      os.Getenv("PATH"),
		Starter:   table,
		Addresses: podip.NewPool(netip.MustParsePrefix("198.18.2.0/24")),
		Network:   served,
		Answerer:  served,
		Log:       slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close(context.Background(), time.Second)
		cancel()
		<-reaped
	})
	return r, served
}

func runPod(t *testing.T, r *Runtime, mode runtimeapi.NamespaceMode) (id, logs string) {
	t.Helper()
	pod := podOn(mode)
	pod.Metadata = &runtimeapi.PodSandboxMetadata{Name: "p", Namespace: "n", Uid: "u"}
	pod.LogDirectory = t.TempDir()
	resp, err := r.RunPodSandbox(context.Background(), &runtimeapi.RunPodSandboxRequest{Config: pod})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetPodSandboxId(), pod.GetLogDirectory()
}

func startContainer(t *testing.T, r *Runtime, pod string, config *runtimeapi.ContainerConfig) string {
	t.Helper()
	config.Metadata = &runtimeapi.ContainerMetadata{Name: "c"}
	config.Image = &runtimeapi.ImageSpec{Image: "registry.example/etcd:1"}
	config.LogPath = "c/0.log"
	made, err := r.CreateContainer(context.Background(), &runtimeapi.CreateContainerRequest{PodSandboxId: pod, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartContainer(context.Background(), &runtimeapi.StartContainerRequest{ContainerId: made.GetContainerId()}); err != nil {
		t.Fatal(err)
	}
	return made.GetContainerId()
}

func statusOf(t *testing.T, r *Runtime, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	resp, err := r.ContainerStatus(context.Background(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetStatus()
}

// ended waits for a container's end, which an event tells of.
func ended(t *testing.T, r *Runtime, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	r.mu.Lock()
	finished := r.containers[id].finished
	r.mu.Unlock()
	select {
	case <-finished:
	case <-time.After(10 * time.Second):
		t.Fatal("the container did not end within 10 s")
	}
	return statusOf(t, r, id)
}

func TestProcessContainerRunsItsProgram(t *testing.T) {
	r, _ := newRuntime(t, `echo "$0 $* $FOO"; echo oops >&2; exit 7`)
	pod, logs := runPod(t, r, runtimeapi.NamespaceMode_NODE)
	id := startContainer(t, r, pod, &runtimeapi.ContainerConfig{
		Command: []string{"etcd", "--x"},
		Envs:    []*runtimeapi.KeyValue{{Key: "FOO", Value: []byte("bar")}},
	})
	status := ended(t, r, id)
	if status.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || status.GetExitCode() != 7 || status.GetReason() != "Error" {
		t.Errorf("status is %v, exit code %d, reason %s", status.GetState(), status.GetExitCode(), status.GetReason())
	}
	if status.GetAnnotations()[ContainerAnnotation] != "process" || !strings.HasPrefix(status.GetImageRef(), "foo-process://process/") {
		t.Errorf("status does not say that it is a process: %v", status)
	}
	log, err := os.ReadFile(filepath.Join(logs, "c/0.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stdout F", "etcd --x bar\n", "stderr F oops\n"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
}

func TestProcessOutlivesAFullLog(t *testing.T) {
	// Far more than a pipe holds, so that a process whose output is not read would not reach its end.
	r, _ := newRuntime(t, "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 7")
	pod, logs := runPod(t, r, runtimeapi.NamespaceMode_NODE)
	if err := os.Mkdir(filepath.Join(logs, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(logs, "c/0.log")); err != nil {
		t.Fatal(err)
	}
	id := startContainer(t, r, pod, &runtimeapi.ContainerConfig{Command: []string{"etcd"}})
	if status := ended(t, r, id); status.GetExitCode() != 7 {
		t.Errorf("exit code is %d, %s", status.GetExitCode(), status.GetMessage())
	}
}

func TestProcessContainerIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		patience int64
		code     int32
	}{
		"by SIGTERM":             {"trap 'exit 0' TERM\necho up\nwhile :; do sleep 0.01; done", 30, 0},
		"by SIGKILL if it stays": {"trap '' TERM\necho up\nwhile :; do sleep 0.01; done", 1, 137},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newRuntime(t, c.script)
			pod, logs := runPod(t, r, runtimeapi.NamespaceMode_NODE)
			id := startContainer(t, r, pod, &runtimeapi.ContainerConfig{Command: []string{"etcd"}})
			waitForLog(t, filepath.Join(logs, "c/0.log"), "up")
			if _, err := r.StopContainer(context.Background(), &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: c.patience}); err != nil {
				t.Fatal(err)
			}
			if status := statusOf(t, r, id); status.GetExitCode() != c.code {
				t.Errorf("exit code is %d, want %d", status.GetExitCode(), c.code)
			}
		})
	}
}

// waitForLog waits until the program has said something, since a signal before that would meet it without its trap.
func waitForLog(t *testing.T, path, text string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), text) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("log lacks %q after 10 s: %s", text, data)
		case <-tick.C:
		}
	}
}

func TestSimulatedContainer(t *testing.T) {
	r, _ := newRuntime(t, "")
	pod, logs := runPod(t, r, runtimeapi.NamespaceMode_POD)
	id := startContainer(t, r, pod, &runtimeapi.ContainerConfig{Command: []string{"nginx"}})
	status := statusOf(t, r, id)
	if status.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING || status.GetAnnotations()[ContainerAnnotation] != "simulated" {
		t.Errorf("status is %v", status)
	}
	log, err := os.ReadFile(filepath.Join(logs, "c/0.log"))
	if err != nil || !strings.Contains(string(log), simulationNotice) {
		t.Errorf("log is %q, %v", log, err)
	}
	resp, err := r.ExecSync(context.Background(), &runtimeapi.ExecSyncRequest{ContainerId: id, Cmd: []string{"false"}})
	if err != nil || resp.GetExitCode() != 0 {
		t.Errorf("ExecSync: %v, %v", resp, err)
	}
	if _, err := r.StopPodSandbox(context.Background(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, r, id); status.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || status.GetExitCode() != 0 {
		t.Errorf("after its pod was stopped: %v", status)
	}
}

func TestInitContainerCompletesAtOnce(t *testing.T) {
	r, _ := newRuntime(t, "")
	pod, _ := runPod(t, r, runtimeapi.NamespaceMode_POD)
	id := startContainer(t, r, pod, &runtimeapi.ContainerConfig{Annotations: map[string]string{KindAnnotation: KindInit}})
	if status := statusOf(t, r, id); status.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || status.GetReason() != "Completed" {
		t.Errorf("status is %v", status)
	}
}

func TestSandboxEchoesNamespacesAndHasAnAddress(t *testing.T) {
	r, net := newRuntime(t, "")
	ctx := context.Background()
	config := &runtimeapi.RuntimeConfig{NetworkConfig: &runtimeapi.NetworkConfig{PodCidr: "10.244.7.0/24"}}
	if _, err := r.UpdateRuntimeConfig(ctx, &runtimeapi.UpdateRuntimeConfigRequest{RuntimeConfig: config}); err != nil {
		t.Fatal(err)
	}
	if len(net.served) != 1 || net.served[0].String() != "10.244.7.0/24" {
		t.Errorf("served ranges are %v", net.served)
	}
	for mode, ip := range map[runtimeapi.NamespaceMode]string{runtimeapi.NamespaceMode_POD: "10.244.7.2", runtimeapi.NamespaceMode_NODE: ""} {
		id, _ := runPod(t, r, mode)
		resp, err := r.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.GetStatus().GetLinux().GetNamespaces().GetOptions().GetNetwork(); got != mode {
			t.Errorf("network namespace is %s, want %s", got, mode)
		}
		if got := resp.GetStatus().GetNetwork().GetIp(); got != ip {
			t.Errorf("address is %q, want %q", got, ip)
		}
		if _, err := r.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
			t.Error(err)
		}
	}
}

func TestImagesArePulledByName(t *testing.T) {
	ctx, i := context.Background(), newImages()
	spec := &runtimeapi.ImageSpec{Image: "nginx:1"}
	if resp, err := i.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: spec}); err != nil || resp.GetImage() != nil {
		t.Errorf("before the pull: %v, %v", resp, err)
	}
	pulled, err := i.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"nginx:1", pulled.GetImageRef()} {
		resp, err := i.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
		if err != nil || resp.GetImage().GetId() != pulled.GetImageRef() || resp.GetImage().GetSize() == 0 {
			t.Errorf("status of %s: %v, %v", ref, resp, err)
		}
	}
}
