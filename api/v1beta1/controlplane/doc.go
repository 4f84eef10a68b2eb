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

// Package controlplane holds version v1beta1 of Foo's control plane API, for those who still use the v1beta1 contract of
// Cluster API. The shape follows version v1beta1 of KubeadmControlPlane, as v1beta2 follows v1beta2.
//
// v1beta1 is served, not stored: the API server converts it from and to v1beta2, which is the hub.
//
// Limits: the package holds types only. New features come to v1beta2 alone; an object that uses them keeps them when it
// is changed through v1beta1. Conversion lives in the webhooks folder.
//
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
// +versionName=v1beta1
package controlplane
