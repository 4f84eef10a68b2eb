// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package behaviour checks what a provider does. It starts a kube-apiserver, runs the provider's
// own manager with the permissions of its ServiceAccount, and plays Cluster API's core: it creates
// Clusters and Machines, sets owner references, hands over bootstrap data, pauses, and deletes.
//
// Each scenario has a namespace of its own, and checks a few rules in the course of one story. A
// check that waits for something succeeds as soon as it happens, so only failures take long. A
// check that something does not happen waits until nothing changes any more.
//
// Limits: no garbage collector and no other controller runs, so nothing but the suite and the
// provider changes objects. Cluster API's kinds are served without its webhooks, so providers that
// read them in fields.V1Beta1 are not converted for. What needs a workload cluster is not run.
package behaviour
