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

// Package cri serves the Container Runtime Interface v1 of an instance whose runtime is "process".
//
// A container of a pod on the host network that calls a control plane program (see programs) runs as a process of the
// instance. Every other container is simulated: it is reported as running and nothing runs in it. Both are told apart when a
// container is created (see classify), and a simulated one says what it is: in its log, in its image reference and in the
// runtime's name, which is foo-process.
//
// A simulated container runs until it is stopped, whatever its pod is for: the pod of a Job does not complete. An init
// container ends well at once, since its pod would not start otherwise. The interface does not tell init containers apart, so
// the instance's kubelet does, by the annotation KindAnnotation; a container without it is an ordinary one.
//
// Images are names only: a pull is answered at once and fetches nothing.
//
// A pod on the host network of which one container is a process has none of its ports answered for its simulated containers.
//
// Limits: no resource limit, capability or security profile is applied. A process sees the instance's files, and its mounts at other
// paths besides them.
package cri
