// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds Foo's control plane API, for users who still use
// the v1beta1 contract of Cluster API. The shape follows version v1beta1 of KubeadmControlPlane, as
// v1beta2 follows v1beta2.
//
// v1beta1 is served, not stored: the API server converts it from and to v1beta2, which is the hub.
//
// Limits: the package holds types only. New features are added to v1beta2 only; an object that uses
// them keeps them when it is changed through v1beta1. Conversion lives in the webhooks folder.
//
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
package v1beta1
