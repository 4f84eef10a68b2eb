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
	"sync"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// eventBacklog is how many events a reader may lag behind before its stream ends and it has to list again.
const eventBacklog = 1024

// events gives what happens to containers to those who watch.
type events struct {
	mu      sync.Mutex
	readers map[chan *runtimeapi.ContainerEventResponse]struct{}
}

func newEvents() *events {
	return &events{readers: map[chan *runtimeapi.ContainerEventResponse]struct{}{}}
}

func (e *events) subscribe() chan *runtimeapi.ContainerEventResponse {
	reader := make(chan *runtimeapi.ContainerEventResponse, eventBacklog)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readers[reader] = struct{}{}
	return reader
}

func (e *events) unsubscribe(reader chan *runtimeapi.ContainerEventResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.readers[reader]; ok {
		delete(e.readers, reader)
		close(reader)
	}
}

func (e *events) watched() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.readers) > 0
}

func (e *events) send(event *runtimeapi.ContainerEventResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for reader := range e.readers {
		select {
		case reader <- event:
		default:
			delete(e.readers, reader)
			close(reader)
		}
	}
}

// publish tells that something happened to a container, or to the sandbox itself. It needs the runtime's lock.
func (r *Runtime) publish(pod *sandbox, containerID string, kind runtimeapi.ContainerEventType) {
	if !r.events.watched() {
		return
	}
	r.events.send(&runtimeapi.ContainerEventResponse{
		ContainerId:        containerID,
		ContainerEventType: kind,
		CreatedAt:          time.Now().UnixNano(),
		PodSandboxStatus:   pod.status(),
		ContainersStatuses: r.statusesOf(pod),
	})
}

// GetContainerEvents streams what happens until the client goes away or lags too far behind.
func (r *Runtime) GetContainerEvents(_ *runtimeapi.GetEventsRequest, stream grpc.ServerStreamingServer[runtimeapi.ContainerEventResponse]) error {
	reader := r.events.subscribe()
	defer r.events.unsubscribe(reader)
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case event, ok := <-reader:
			if !ok {
				return nil
			}
			if err := stream.Send(event); err != nil {
				return err
			}
		}
	}
}
