// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package management runs a management cluster without nodes as processes of this machine: etcd, kube-apiserver, the
// controllers of kube-controller-manager that Cluster API relies on, and Cluster API providers with their webhooks.
//
// Everything listens on 127.0.0.1 and speaks TLS, with certificates that are made anew at each start. Each provider
// authenticates as the service account that its own components name, so it has the rights that it would have in a pod
// and no others. Providers are installed from the components that they release; what only makes sense for pods
// (Deployments, what they mount, Services, certificates of cert-manager) is left out.
//
// Limits: a webhook server of a Cluster API provider cannot be told its address and listens on all of them. etcd does
// not sync its files, so a power failure (but no crash of a process) can cost the last writes. Nothing runs pods.
package management
