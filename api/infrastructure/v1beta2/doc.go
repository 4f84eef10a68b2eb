// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 holds Foo's infrastructure API: FooCluster, FooMachine, FooMachinePool and their
// templates, and FooClusterIdentity, with the condition types and reasons that their controllers
// set.
//
// v1beta2 is the storage version and meets the v1beta2 contracts infra-cluster, infra-machine and
// infra-machinepool.
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta2

// Limits: the package holds types, constants and accessors. Defaulting beyond the schema, admission
// and conversion live in the webhooks folder; nothing here talks to an API server or to a cloud.
