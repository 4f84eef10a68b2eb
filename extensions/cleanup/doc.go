// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cleanup deletes, before a Cluster is deleted, what the cluster created in the cloud
// through its own API server: the load balancers of Services and the volumes of
// PersistentVolumeClaims. Cluster API deletes the machines, but nothing would delete these once the
// controllers that created them are gone.
//
// The clean-up deletes Services of type LoadBalancer, and claims that have no volume yet or whose
// volume has the reclaim policy Delete. It waits until these and the volumes are gone from the API
// server, because only then have the cloud's controllers done their part. Volumes with another
// reclaim policy stay, with their claims, and are reported.
//
// A claim stays as long as a pod uses it. So pods that use a deleted claim are deleted too, with
// their own grace period and regardless of disruption budgets. So is the workload that would
// recreate them or the claim: the Deployment, StatefulSet, DaemonSet, ReplicaSet,
// ReplicationController, Job or CronJob at the top of their owners. Everything else keeps running,
// above all the cloud's controllers.
//
// A Cluster is never held for longer than the setting cleanUpTimeout, counted from the first call
// of the hook, or from the end of what is done before the clean-up. After that, the hook
// reports what is left over and no longer blocks. So the clean-up ends even if the API server is
// gone. If the control plane never came up, it ends immediately.
//
// Limits: Ingresses, Gateways and objects of other kinds are not deleted. Only their controllers
// know what they stand for in a cloud, and most of these controllers serve behind a Service of type
// LoadBalancer. If the controller of a custom resource recreates a deleted workload, Service or
// claim, the custom resource is not deleted; the recreated objects are deleted again until the time
// is over. Volumes that no controller deletes, such as those created by hand with the reclaim
// policy Delete, are waited for until the end.
package cleanup
