// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane is the controller of FooControlPlane: certificates, kubeconfig and the
// control plane's Machines.
//
// Each reconcile observes everything (observe.go), builds one state from it (state.go), makes one
// decision (package plan, which is pure), carries it out (apply.go) and reports both (status.go,
// conditions.go). Decisions are data: the condition and the event show the decision's own reason
// and message.
//
// Two things make it fast. It writes certificates and kubeconfig as soon as the infrastructure
// cluster has an endpoint, so that Cluster API's ClusterCache, which waits 30 seconds between
// attempts, connects at its first attempt. And it creates the first Machine as soon as its failure
// domain is known: Machine, KubeadmConfig and infrastructure machine each wait on their own for
// what they need.
//
// Safety: it creates or deletes one Machine at a time, and only while all others are healthy. The
// Machine to delete is exempt from that check, so that a broken one can be replaced. Leadership of
// etcd moves before the leader's Machine is deleted. A member leaves etcd after its Machine is
// drained, and only if the rest keeps quorum. What cannot be observed counts as unhealthy. A
// remediated Machine may be replaced while others are broken if etcd survives the failure of the
// new one. If no step is safe, the conditions and status.plan say why. An empty status proves
// nothing: plan.Evidence lists what proves that a control plane has been initialized.
//
// Failures: each effect that fails has its own backoff (backoff.go). The reported error stays the
// same for as long as the cause does.
//
// The rollout guard (guard.go): each Machine records what it was made from. If a Machine is out of
// date although the user has changed neither spec nor template since, it is not replaced until the
// user confirms that with the annotation controlplane.cluster.x-k8s.io/confirm-rollout, whose value
// is the digest in the RollingOut condition. An adopted Machine has no record; it is held if only
// its configuration differs. What spec.rollout.after and spec.rollout.before ask for is never held.
// A change to an existing infrastructure template goes unnoticed: Cluster API requires a new
// template instead.
//
// Limits: certificate authorities are not rotated. Machines are not updated in place, except for
// their metadata and the settings in propagate.go.
package controlplane
