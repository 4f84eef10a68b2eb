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
	"maps"
	"net/netip"
	"os"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandbox is a pod as the runtime knows it. Its fields are guarded by the runtime's lock; config never changes.
type sandbox struct {
	id        string
	config    *runtimeapi.PodSandboxConfig
	handler   string
	createdAt time.Time
	state     runtimeapi.PodSandboxState
	addresses []netip.Addr
	owned     bool                         // the addresses came from the pool
	ports     map[netip.AddrPort]io.Closer // those that are answered for it, by address
}

// RunPodSandbox makes a pod's sandbox.
func (r *Runtime) RunPodSandbox(_ context.Context, req *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	config := req.GetConfig()
	if config.GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "the sandbox has no metadata")
	}
	id, err := newID()
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	pod := &sandbox{
		id:        id,
		config:    config,
		handler:   req.GetRuntimeHandler(),
		createdAt: time.Now(),
		state:     runtimeapi.PodSandboxState_SANDBOX_READY,
		addresses: []netip.Addr{r.config.Address},
		ports:     map[netip.AddrPort]io.Closer{},
	}
	if folder := config.GetLogDirectory(); folder != "" {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, status.Errorf(codes.Internal, "log folder: %s", err)
		}
	}
	if !onHostNetwork(config) {
		if pod.addresses, err = r.config.Addresses.Allocate(); err != nil {
			return nil, status.Error(codes.ResourceExhausted, err.Error())
		}
		pod.owned = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes[id] = pod
	r.publish(pod, id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT)
	r.publish(pod, id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: id}, nil
}

// StopPodSandbox stops a sandbox with all its containers. An unknown one is stopped already.
func (r *Runtime) StopPodSandbox(ctx context.Context, req *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	id := req.GetPodSandboxId()
	for _, c := range r.containersOf(id) {
		r.stop(ctx, c, 0)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if pod, ok := r.sandboxes[id]; ok && pod.state == runtimeapi.PodSandboxState_SANDBOX_READY {
		pod.closePorts()
		pod.state = runtimeapi.PodSandboxState_SANDBOX_NOTREADY
		r.publish(pod, id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
	}
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

// RemovePodSandbox removes a sandbox with all its containers. An unknown one is removed already.
func (r *Runtime) RemovePodSandbox(ctx context.Context, req *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	id := req.GetPodSandboxId()
	for _, c := range r.containersOf(id) {
		r.stop(ctx, c, 0)
		r.remove(c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if pod, ok := r.sandboxes[id]; ok {
		delete(r.sandboxes, id)
		pod.closePorts()
		if pod.owned {
			r.config.Addresses.Release(pod.addresses)
		}
		r.publish(pod, id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
	}
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

func (r *Runtime) containersOf(sandboxID string) []*container {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*container
	for _, c := range r.containers {
		if c.sandbox.id == sandboxID {
			found = append(found, c)
		}
	}
	return found
}

// PodSandboxStatus tells all of one sandbox.
func (r *Runtime) PodSandboxStatus(_ context.Context, req *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := r.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "sandbox %q is not known", req.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatusResponse{
		Status:             pod.status(),
		ContainersStatuses: r.statusesOf(pod),
		Timestamp:          time.Now().UnixNano(),
	}, nil
}

// statusesOf needs the lock.
func (r *Runtime) statusesOf(pod *sandbox) []*runtimeapi.ContainerStatus {
	var all []*runtimeapi.ContainerStatus
	for _, c := range r.containers {
		if c.sandbox == pod {
			all = append(all, c.status())
		}
	}
	return all
}

func (p *sandbox) status() *runtimeapi.PodSandboxStatus {
	network := &runtimeapi.PodSandboxNetworkStatus{}
	// The kubelet takes the address of a pod on the host network from the node, and asks that the runtime name none.
	if p.owned {
		for i, address := range p.addresses {
			if i == 0 {
				network.Ip = address.String()
				continue
			}
			network.AdditionalIps = append(network.AdditionalIps, &runtimeapi.PodIP{Ip: address.String()})
		}
	}
	return &runtimeapi.PodSandboxStatus{
		Id:        p.id,
		Metadata:  p.config.GetMetadata(),
		State:     p.state,
		CreatedAt: p.createdAt.UnixNano(),
		Network:   network,
		// The kubelet replaces a sandbox whose namespaces are not those that it asked for, so they are told as they were asked.
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: p.config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
		Labels:         p.config.GetLabels(),
		Annotations:    p.config.GetAnnotations(),
		RuntimeHandler: p.handler,
	}
}

// ListPodSandbox lists sandboxes.
func (r *Runtime) ListPodSandbox(_ context.Context, req *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	resp := &runtimeapi.ListPodSandboxResponse{}
	for _, pod := range r.sandboxes {
		if pod.matches(req.GetFilter()) {
			resp.Items = append(resp.Items, pod.item())
		}
	}
	return resp, nil
}

func (p *sandbox) item() *runtimeapi.PodSandbox {
	return &runtimeapi.PodSandbox{
		Id:             p.id,
		Metadata:       p.config.GetMetadata(),
		State:          p.state,
		CreatedAt:      p.createdAt.UnixNano(),
		Labels:         p.config.GetLabels(),
		Annotations:    p.config.GetAnnotations(),
		RuntimeHandler: p.handler,
	}
}

func (p *sandbox) matches(filter *runtimeapi.PodSandboxFilter) bool {
	if filter.GetId() != "" && filter.GetId() != p.id {
		return false
	}
	if filter.GetState() != nil && filter.GetState().GetState() != p.state {
		return false
	}
	return containsLabels(p.config.GetLabels(), filter.GetLabelSelector())
}

// containsLabels reports whether all wanted labels are there.
func containsLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// withContainerAnnotation adds how a container runs to its annotations.
func withContainerAnnotation(annotations map[string]string, how way) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	value := how
	if how == asCompletedSimulation {
		value = asSimulation
	}
	out[ContainerAnnotation] = string(value)
	return out
}
