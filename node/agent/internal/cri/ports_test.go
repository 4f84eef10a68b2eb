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
	"net"
	"net/netip"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runPodWithPort runs a pod that declares one TCP port, which nothing listened on, and returns it with that port's address.
func runPodWithPort(t *testing.T, r *Runtime, mode runtimeapi.NamespaceMode) (id string, address netip.AddrPort) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = netip.MustParseAddrPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return runPodWith(t, r, mode, address), address
}

func runPodWith(t *testing.T, r *Runtime, mode runtimeapi.NamespaceMode, address netip.AddrPort) string {
	t.Helper()
	pod := podOn(mode)
	pod.Metadata = &runtimeapi.PodSandboxMetadata{Name: "p", Namespace: "n", Uid: "u"}
	pod.LogDirectory = t.TempDir()
	port := int32(address.Port())
	pod.PortMappings = []*runtimeapi.PortMapping{{HostIp: address.Addr().String(), ContainerPort: port, HostPort: port}}
	resp, err := r.RunPodSandbox(context.Background(), &runtimeapi.RunPodSandboxRequest{Config: pod})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetPodSandboxId()
}

func answers(address netip.AddrPort) bool {
	conn, err := net.Dial("tcp", address.String())
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func TestPortsOfSimulatedPodsOnTheHostNetworkAnswer(t *testing.T) {
	r, _ := newRuntime(t, "")
	pod, address := runPodWithPort(t, r, runtimeapi.NamespaceMode_NODE)
	if answers(address) {
		t.Error("the port answers before a container runs")
	}
	for range 2 { // a second container, or the first once more, changes nothing
		startContainer(t, r, pod, &runtimeapi.ContainerConfig{})
		if !answers(address) {
			t.Error("the port does not answer")
		}
	}
	if _, err := r.StopPodSandbox(context.Background(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	if answers(address) {
		t.Error("the port answers after the pod's end")
	}
}

func TestPortsOfPodsWithAddressesAreNotTaken(t *testing.T) {
	r, _ := newRuntime(t, "")
	pod, address := runPodWithPort(t, r, runtimeapi.NamespaceMode_POD)
	startContainer(t, r, pod, &runtimeapi.ContainerConfig{})
	if answers(address) {
		t.Error("the port of a pod with an address of its own answers on the instance's")
	}
}

func TestPortsOfProcessesAreTheirOwn(t *testing.T) {
	r, _ := newRuntime(t, "sleep 60")
	pod, address := runPodWithPort(t, r, runtimeapi.NamespaceMode_NODE)
	startContainer(t, r, pod, &runtimeapi.ContainerConfig{})
	startContainer(t, r, pod, &runtimeapi.ContainerConfig{Command: []string{"etcd"}})
	startContainer(t, r, pod, &runtimeapi.ContainerConfig{})
	listener, err := net.Listen("tcp", address.String())
	if err != nil {
		t.Fatalf("a process can not have the port: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	// A pod that declares a port which is taken runs all the same.
	startContainer(t, r, runPodWith(t, r, runtimeapi.NamespaceMode_NODE, address), &runtimeapi.ContainerConfig{})
}
