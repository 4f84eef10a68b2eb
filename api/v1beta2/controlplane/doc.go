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

// Package controlplane holds version v1beta2 of Foo's control plane API: FooControlPlane and its template, with the
// condition types and reasons that its controller sets.
//
// v1beta2 is the storage version and meets the v1beta2 contract control-plane. The shape follows KubeadmControlPlane,
// so that a manifest of the one becomes a manifest of the other by changing apiVersion, kind and references.
//
// Limits: the package holds types, constants and accessors. Defaulting beyond the schema, admission and conversion live
// in the webhooks folder; nothing here talks to an API server.
//
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
// +versionName=v1beta2
package controlplane
