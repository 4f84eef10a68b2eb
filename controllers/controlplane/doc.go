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

// Package controlplane is the controller of FooControlPlane: certificates, kubeconfig and the control plane's Machines.
//
// One reconcile observes everything once (scope.go), makes one decision from it (plan.go, pure), carries it out
// (apply.go) and says in the status what was seen and decided (status.go). Decisions are data: the reason and message of a
// decision are what the condition and the event say.
//
// Two things make it fast. Certificates and kubeconfig are written as soon as the infrastructure cluster names an endpoint,
// so that Cluster API's ClusterCache, which tries again only after 30 seconds, connects at its first attempt; and the
// first Machine is created as soon as its place is known, since Machine, KubeadmConfig and infrastructure machine each
// wait by themselves for what they need.
//
// Safety: one Machine is created or removed at a time, and only while all the others are healthy; a member leaves etcd
// before its machine goes, and only if the rest keeps quorum; what can not be seen counts as not healthy.
//
// Limits: Machines are not rolled out, remediated or adopted, and what is changed in spec.machineTemplate does not reach
// Machines that exist. Where that matters a condition says so, and nothing is done.
package controlplane
