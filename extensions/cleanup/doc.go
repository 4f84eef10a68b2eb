// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cleanup deletes, before a Cluster is deleted, what it has made in the cloud by way of its own API server: the load
// balancers of Services and the volumes of PersistentVolumeClaims. Machines are Cluster API's to delete, but nothing would
// delete these once the controllers that made them are gone.
//
// Services of the type LoadBalancer are deleted, and claims whose volume has the reclaim policy Delete or that have none yet,
// and it is waited until the API server has none of them any more, and none of the volumes: it is then that the cloud's
// controllers have done their part. Volumes with another reclaim policy stay, with their claims, and are reported.
//
// A claim stays as long as a pod uses it. So pods that use a claim that is deleted are deleted too, with the grace that they
// ask for and whatever disruption budgets say, as is the workload that would make them or the claim anew: the Deployment,
// StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job or CronJob at the top of their owners. All else runs on, the
// controllers of the cloud above all.
//
// A Cluster is never kept for longer than the setting cleanUpTimeout, counted from the first call of the hook, or from the
// latest end of what is done before the clean-up. Then what is left over is reported and the hook let go, as it is at once for
// a control plane that never came up. So it ends also if the API server is gone.
//
// Limits: Ingresses, Gateways and objects of other kinds are left out: what they stand for in a cloud is known to their
// controllers only, most of which serve behind a Service of the type LoadBalancer. A custom resource whose controller makes a
// deleted workload, Service or claim anew is not deleted; what is made anew is deleted again until the time is over. Volumes
// that a controller does not delete, such as those made by hand with the reclaim policy Delete, are waited for to the end.
package cleanup
