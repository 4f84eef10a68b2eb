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

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ContainerStatus tells all of one container.
func (r *Runtime) ContainerStatus(_ context.Context, req *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[req.GetContainerId()]
	if !ok {
		return nil, notFound(req.GetContainerId())
	}
	return &runtimeapi.ContainerStatusResponse{Status: c.status()}, nil
}

// ListContainers lists containers.
func (r *Runtime) ListContainers(_ context.Context, req *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	resp := &runtimeapi.ListContainersResponse{}
	for _, c := range r.containers {
		if c.matches(req.GetFilter()) {
			resp.Containers = append(resp.Containers, c.item())
		}
	}
	return resp, nil
}

func (c *container) status() *runtimeapi.ContainerStatus {
	status := &runtimeapi.ContainerStatus{
		Id:          c.id,
		Metadata:    c.config.GetMetadata(),
		State:       c.state,
		CreatedAt:   c.createdAt.UnixNano(),
		ExitCode:    int32(c.exitCode),
		Image:       c.image(),
		ImageRef:    c.imageRef(),
		ImageId:     imageID(c.imageName()),
		Reason:      c.reason,
		Message:     c.message,
		Labels:      c.config.GetLabels(),
		Annotations: withContainerAnnotation(c.config.GetAnnotations(), c.how),
		Mounts:      c.config.GetMounts(),
		LogPath:     c.logPath,
		StopSignal:  c.config.GetStopSignal(),
	}
	if !c.startedAt.IsZero() {
		status.StartedAt = c.startedAt.UnixNano()
	}
	if !c.finishedAt.IsZero() {
		status.FinishedAt = c.finishedAt.UnixNano()
	}
	return status
}

func (c *container) item() *runtimeapi.Container {
	return &runtimeapi.Container{
		Id:           c.id,
		PodSandboxId: c.sandbox.id,
		Metadata:     c.config.GetMetadata(),
		Image:        c.image(),
		ImageRef:     c.imageRef(),
		ImageId:      imageID(c.imageName()),
		State:        c.state,
		CreatedAt:    c.createdAt.UnixNano(),
		Labels:       c.config.GetLabels(),
		Annotations:  withContainerAnnotation(c.config.GetAnnotations(), c.how),
	}
}

// imageName is the image as the pod has it.
func (c *container) imageName() string {
	if name := c.config.GetImage().GetUserSpecifiedImage(); name != "" {
		return name
	}
	return c.config.GetImage().GetImage()
}

func (c *container) image() *runtimeapi.ImageSpec {
	return &runtimeapi.ImageSpec{Image: c.imageName(), UserSpecifiedImage: c.imageName()}
}

// imageRef is what a pod's status shows as imageID; it says how the container runs.
func (c *container) imageRef() string {
	if c.how == asProcess {
		return Name + "://process/" + c.imageName()
	}
	return Name + "://simulated/" + c.imageName()
}

func (c *container) matches(filter *runtimeapi.ContainerFilter) bool {
	if filter.GetId() != "" && filter.GetId() != c.id {
		return false
	}
	if filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != c.sandbox.id {
		return false
	}
	if filter.GetState() != nil && filter.GetState().GetState() != c.state {
		return false
	}
	return containsLabels(c.config.GetLabels(), filter.GetLabelSelector())
}
