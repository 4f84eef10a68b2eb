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
	"fmt"
	"path/filepath"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/crilog"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// simulationNotice is the one line in a simulated container's log.
const simulationNotice = "simulated by Foo: nothing runs in this container"

const (
	reasonCompleted = "Completed"
	reasonError     = "Error"
	reasonStartFail = "StartError"

	exitCodeStartFail = 128
)

// container is one run of a container. Its fields are guarded by the runtime's lock, but for those that never change: id,
// sandbox, config, how, program, args and logPath.
type container struct {
	id      string
	sandbox *sandbox
	config  *runtimeapi.ContainerConfig
	how     way
	program string
	args    []string
	logPath string

	state      runtimeapi.ContainerState
	createdAt  time.Time
	startedAt  time.Time
	finishedAt time.Time
	exitCode   int
	reason     string
	message    string
	log        *crilog.Log
	process    *process.Process
	output     *broadcast
	finished   chan struct{} // closed when the end of the process has been recorded
}

// CreateContainer makes a container in a sandbox.
func (r *Runtime) CreateContainer(_ context.Context, req *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	config := req.GetConfig()
	if config.GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "the container has no metadata")
	}
	id, err := newID()
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := r.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "sandbox %q is not known", req.GetPodSandboxId())
	}
	how, program, args := classify(pod.config, config)
	r.gate.observe(program, args)
	if how == asProcess {
		pod.closePorts() // those of a container that was started before; the process may need them
	}
	r.containers[id] = &container{
		id:        id,
		sandbox:   pod,
		config:    config,
		how:       how,
		program:   program,
		args:      args,
		logPath:   filepath.Join(pod.config.GetLogDirectory(), config.GetLogPath()),
		state:     runtimeapi.ContainerState_CONTAINER_CREATED,
		createdAt: time.Now(),
		finished:  make(chan struct{}),
	}
	r.publish(pod, id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT)
	return &runtimeapi.CreateContainerResponse{ContainerId: id}, nil
}

// StartContainer starts a container that was made.
func (r *Runtime) StartContainer(ctx context.Context, req *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	r.mu.Lock()
	c, ok := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if !ok {
		return nil, notFound(req.GetContainerId())
	}
	r.awaitAPI(ctx, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil || r.closing {
		return nil, status.Error(codes.Canceled, "the start was cancelled")
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_CREATED {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q was started before", c.id)
	}
	if err := r.start(c); err != nil {
		r.finish(c, exitCodeStartFail, reasonStartFail, err.Error())
		return nil, status.Errorf(codes.Internal, "%s", err)
	}
	return &runtimeapi.StartContainerResponse{}, nil
}

// start needs the lock.
func (r *Runtime) start(c *container) error {
	log, err := crilog.Open(c.logPath, time.Now)
	if err != nil {
		return err
	}
	c.log = log
	c.startedAt = time.Now()
	if c.how == asProcess {
		if err := r.startProcess(c); err != nil {
			return err
		}
	} else if err := log.Line(crilog.Stdout, simulationNotice); err != nil {
		return err
	}
	c.state = runtimeapi.ContainerState_CONTAINER_RUNNING
	r.answerPorts(c)
	r.publish(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	if c.how == asCompletedSimulation {
		r.finish(c, 0, reasonCompleted, "")
	}
	return nil
}

// finish records a container's end. It needs the lock.
func (r *Runtime) finish(c *container, code int, reason, message string) {
	if c.state == runtimeapi.ContainerState_CONTAINER_EXITED {
		return
	}
	c.state = runtimeapi.ContainerState_CONTAINER_EXITED
	c.finishedAt = time.Now()
	c.exitCode, c.reason, c.message = code, reason, message
	if c.log != nil {
		if err := c.log.Close(); err != nil {
			r.config.Log.Warn("Can not close container log", "path", c.logPath, "error", err)
		}
	}
	close(c.finished)
	r.publish(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
}

// StopContainer stops a container: its stop signal first, and a kill after the timeout.
func (r *Runtime) StopContainer(ctx context.Context, req *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	r.mu.Lock()
	c, ok := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if ok {
		r.stop(ctx, c, time.Duration(req.GetTimeout())*time.Second)
	}
	return &runtimeapi.StopContainerResponse{}, nil
}

// stop returns when the container has ended. It must be called without the lock.
func (r *Runtime) stop(ctx context.Context, c *container, grace time.Duration) {
	r.mu.Lock()
	proc, running := c.process, c.state == runtimeapi.ContainerState_CONTAINER_RUNNING
	if running && proc == nil {
		r.finish(c, 0, reasonCompleted, "")
	}
	r.mu.Unlock()
	if !running || proc == nil {
		return
	}
	proc.Stop(ctx, stopSignal(c.config), grace)
	<-c.finished
}

// RemoveContainer removes a container, stopping it if it runs. An unknown one is removed already.
func (r *Runtime) RemoveContainer(ctx context.Context, req *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	r.mu.Lock()
	c, ok := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if ok {
		r.stop(ctx, c, 0)
		r.remove(c)
	}
	return &runtimeapi.RemoveContainerResponse{}, nil
}

func (r *Runtime) remove(c *container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.containers[c.id]; !ok {
		return
	}
	delete(r.containers, c.id)
	r.publish(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
}

// ReopenContainerLog opens the log of a running container anew, after the kubelet moved the file away.
func (r *Runtime) ReopenContainerLog(_ context.Context, req *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[req.GetContainerId()]
	if !ok {
		return nil, notFound(req.GetContainerId())
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is not running", c.id)
	}
	if err := c.log.Reopen(); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &runtimeapi.ReopenContainerLogResponse{}, nil
}

// UpdateContainerResources accepts new limits; none is applied to any container, so there is nothing to do.
func (r *Runtime) UpdateContainerResources(context.Context, *runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}

// UpdatePodSandboxResources accepts new limits, as UpdateContainerResources does.
func (r *Runtime) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}

func notFound(containerID string) error {
	return status.Error(codes.NotFound, fmt.Sprintf("container %q is not known", containerID))
}
