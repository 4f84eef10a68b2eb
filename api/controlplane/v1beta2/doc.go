// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 holds Foo's control plane API: FooControlPlane and its
// template, with the condition types and reasons that its controller sets.
//
// v1beta2 is the storage version and meets the v1beta2 contract control-plane. The shape follows
// KubeadmControlPlane, so that changing apiVersion, kind and references turns a manifest of one
// into a manifest of the other.
//
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
package v1beta2

// Limits: the package holds types, constants and accessors. Defaulting beyond the schema, admission
// and conversion live in the webhooks folder; nothing here talks to an API server.
