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
	"io"
	"net/netip"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Answerer answers for simulated containers.
type Answerer interface {
	// Answer answers TCP connections to the port of the address, or of every address for the zero one, until it is closed. It
	// fails where a process listens already.
	Answer(address netip.AddrPort) (io.Closer, error)
}

// answerPorts makes the TCP ports that a simulated pod on the host network declares answer, as those of a pod with an address
// of its own do. A port that a process has stays that process's. It needs the lock.
func (r *Runtime) answerPorts(c *container) {
	pod := c.sandbox
	if c.how != asSimulation || !onHostNetwork(pod.config) || r.runsProcess(pod) {
		return
	}
	for _, mapping := range pod.config.GetPortMappings() {
		host, _ := netip.ParseAddr(mapping.GetHostIp()) // the zero one where the pod names none
		address := netip.AddrPortFrom(host, uint16(mapping.GetContainerPort()))
		if mapping.GetProtocol() != runtimeapi.Protocol_TCP || pod.ports[address] != nil {
			continue
		}
		port, err := r.config.Answerer.Answer(address)
		if err != nil {
			r.config.Log.Info("Port of a simulated pod is not answered", "pod", pod.config.GetMetadata().GetName(), "error", err)
			continue
		}
		pod.ports[address] = port
	}
}

// runsProcess reports whether a container of the pod runs as a process. Which ports are its own is not known, so it has them
// all. It needs the lock.
func (r *Runtime) runsProcess(pod *sandbox) bool {
	for _, c := range r.containers {
		if c.sandbox == pod && c.how == asProcess {
			return true
		}
	}
	return false
}

// closePorts ends what answerPorts began. It needs the lock.
func (p *sandbox) closePorts() {
	for address, port := range p.ports {
		_ = port.Close() // it is a listener's, which is closed in any case
		delete(p.ports, address)
	}
}
