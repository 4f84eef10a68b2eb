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

// Package kubelet runs the real kubelet (k8s.io/kubernetes/cmd/kubelet/app.Run) in an instance that has no cgroups and
// mounts nothing.
//
// What the kubelet does stays what its release does: pod lifecycle, static and mirror pods, probes, TLS bootstrap and
// rotation, status, eviction, the kubelet API. Replaced are only the dependencies that would touch the host: the container
// manager, the mounter and its helpers, the OOM adjuster, and cadvisor, which reports the CPU and memory of the
// instance's type and the kernel and OS of the machine.
//
// Limits: no resource limit is enforced, devices and dynamic resources are absent, usage statistics are those of the machine.
package kubelet
