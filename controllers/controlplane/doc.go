// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane is the controller of FooControlPlane: certificates, kubeconfig and the control plane's Machines.
//
// One reconcile observes everything (observe.go), makes one state of it (state.go) and one decision from that (package
// plan, which is pure), carries it out (apply.go) and reports what was seen and decided (status.go, conditions.go).
// Decisions are data: the reason and message of a decision are what the condition and the event say.
//
// Two things make it fast. Certificates and kubeconfig are written as soon as the infrastructure cluster names an endpoint,
// so that Cluster API's ClusterCache, which tries again only after 30 seconds, connects at its first attempt; and the
// first Machine is created as soon as its place is known, since Machine, KubeadmConfig and infrastructure machine each
// wait by themselves for what they need.
//
// Safety: one Machine is created or removed at a time, and only while all the others are healthy; the one that is removed
// is left out of that check, so that what is broken can be replaced. The leadership of etcd moves before its Machine is
// deleted, and a member leaves etcd after its machine is drained, and only if the rest keeps quorum; what cannot be seen
// counts as not healthy. A Machine that was remediated may be replaced while others are broken, if etcd can bear that the
// new one fails. Where nothing is safe, the conditions and status.plan say exactly why. An empty status proves nothing:
// initialization.go says what proves that a control plane has been initialized.
//
// Failures: each effect that fails is tried again with its own backoff (backoff.go), and what is shown of it stays the same
// for as long as it fails for the same reason.
//
// The rollout guard (guard.go): each Machine records what it was made from. One that is out of date though the user has
// changed neither spec nor template since is not replaced until the user confirms it, with the annotation
// controlplane.cluster.x-k8s.io/confirm-rollout and the digest that the RollingOut condition names. A Machine without a
// record, which was adopted, is held if only its configuration differs. What spec.rollout.after and
// spec.rollout.before ask for is never held. An infrastructure template that is changed in place is not noticed: Cluster API
// has templates replaced instead.
//
// Limits: certificate authorities are not rotated; Machines are not updated in place beyond their metadata and settings.
package controlplane
