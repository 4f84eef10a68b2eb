// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubernetes is a cloud in a namespace of a Kubernetes cluster, the outer cluster. An
// instance is a Pod with the node image, a load balancer is a Service, and a tenant is a namespace
// with a service account. Nothing needs to be installed in the outer cluster: the ConfigMap ConfigName
// in the namespace says what can be ordered, and everything else is in Pods, Services and Secrets.
//
// A Pod is never restarted, so a Pod that is lost is an instance that is lost. The name of a Pod
// follows from the name of the instance, so the API server itself prevents that an instance is
// created twice.
//
// A pool is a Secret with its template, its size and its members. A member is added there, under
// the optimistic lock of the API server, before its Pod is created, so a pool never gets more Pods
// than its size, whoever fills it. Run fills pools. Every other method works without it.
//
// A new load balancer has a holder, a small Pod that holds connections until the first instance listens.
// It is an improvement only: without it, connections are refused until then.
//
// All reads go to the API server without a resource version, so they are consistent.
//
// Limits: existing connections of a draining instance are not closed, instances are reclaimed only when
// their outer node is drained, interruptible or not, and a Pod on an outer node that is unreachable
// stays until the node comes back or is deleted.
package kubernetes
