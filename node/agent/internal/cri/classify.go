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
	"path"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// programs are what a container can run as a process.
var programs = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}

const (
	// KindAnnotation is set by the instance's kubelet on each container; see KindInit and KindSidecar.
	KindAnnotation = "node.foo.cluster.x-k8s.io/container-kind"
	// KindInit is an init container that has to end before its pod goes on.
	KindInit = "init"
	// KindSidecar is an init container that stays, restartPolicy Always.
	KindSidecar = "sidecar"
	// ContainerAnnotation says on a container in what way it runs: "process" or "simulated".
	ContainerAnnotation = "node.foo.cluster.x-k8s.io/container"
)

// way is how a container runs.
type way string

const (
	// asProcess runs a control plane program as a process.
	asProcess way = "process"
	// asSimulation reports the container as running until it is stopped.
	asSimulation way = "simulated"
	// asCompletedSimulation reports the container as ended well as soon as it starts.
	asCompletedSimulation way = "simulated-completed"
)

// classify decides how a container runs. Program and arguments are set for a process.
func classify(pod *runtimeapi.PodSandboxConfig, container *runtimeapi.ContainerConfig) (how way, program string, args []string) {
	words := slices.Concat(container.GetCommand(), container.GetArgs())
	if onHostNetwork(pod) && len(words) > 0 && slices.Contains(programs, path.Base(words[0])) {
		return asProcess, path.Base(words[0]), words[1:]
	}
	if container.GetAnnotations()[KindAnnotation] == KindInit {
		return asCompletedSimulation, "", nil
	}
	return asSimulation, "", nil
}

// onHostNetwork tells whether a pod uses the instance's own network. Processes always do, so no other pod can have them.
func onHostNetwork(pod *runtimeapi.PodSandboxConfig) bool {
	options := pod.GetLinux().GetSecurityContext().GetNamespaceOptions()
	return options.GetNetwork() == runtimeapi.NamespaceMode_NODE
}
