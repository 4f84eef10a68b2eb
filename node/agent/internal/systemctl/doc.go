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

// Package systemctl answers the calls of systemctl that kubeadm, users and bootstrap data make.
//
// The client is this same program, called as systemctl; it hands its arguments to the first process of the instance over a unix
// socket and prints what that answers. Output and exit codes are systemd's where a caller may look at them.
//
// Limits: there are only the units that the instance gives, containerd and kubelet. Every other unit is not found. Of a unit's properties,
// only those that tell its state are shown.
package systemctl
