// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package management runs a management cluster without nodes as processes of this machine: etcd,
// kube-apiserver, the controllers of kube-controller-manager that Cluster API relies on, and
// Cluster API providers with their webhooks.
//
// Everything listens on 127.0.0.1 and uses TLS, with certificates that are created at each start.
// Each provider authenticates as the service account that its own components name, so it has
// exactly the permissions that it would have in a pod. Providers are installed from their released
// components, without objects that only make sense for pods: Deployments, what they mount, Services
// and certificates of cert-manager.
//
// Limits: the address of a Cluster API provider's webhook server cannot be configured, so it
// listens on all addresses. etcd does not sync its files, so a power failure (but not the crash of
// a process) can lose the last writes. Nothing runs pods.
package management
