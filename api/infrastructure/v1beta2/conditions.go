// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Reasons that any condition about the cloud may have. They equal the reasons of Foo's cloud
// interface, so that a condition repeats what the cloud said.
const (
	// CloudInvalidReason says that the cloud rejects the request as invalid; the message lists what
	// is allowed.
	CloudInvalidReason = "Invalid"
	// CloudQuotaExceededReason says that the tenant's quota is exhausted.
	CloudQuotaExceededReason = "QuotaExceeded"
	// CloudOutOfCapacityReason says that the cloud has no capacity for another instance now.
	CloudOutOfCapacityReason = "OutOfCapacity"
	// CloudUnauthorizedReason says that the cloud does not accept the manager's credentials.
	CloudUnauthorizedReason = "Unauthorized"
	// CloudThrottledReason says that the cloud is rate limiting requests.
	CloudThrottledReason = "Throttled"
	// CloudUnavailableReason says that the cloud cannot answer now.
	CloudUnavailableReason = "Unavailable"
	// CloudErrorReason is any other error of the cloud or of the connection to it.
	CloudErrorReason = "CloudError"
)

// FooCluster's Ready condition and its reasons.
const (
	// FooClusterReadyCondition is true while the load balancer and the failure domains are ready
	// and the FooCluster is not being deleted. Cluster API mirrors it into the Cluster's
	// InfrastructureReady condition.
	FooClusterReadyCondition = clusterv1.ReadyCondition
	// FooClusterReadyReason says that the FooCluster is ready.
	FooClusterReadyReason = clusterv1.ReadyReason
	// FooClusterDeletingReason says that the FooCluster is being deleted.
	FooClusterDeletingReason = clusterv1.DeletingReason
)

// FooCluster's LoadBalancerReady condition and its reasons, besides the cloud's reasons.
const (
	// FooClusterLoadBalancerReadyCondition is true while the control plane endpoint accepts
	// connections.
	FooClusterLoadBalancerReadyCondition = "LoadBalancerReady"
	// FooClusterLoadBalancerReadyReason says that the load balancer accepts connections.
	FooClusterLoadBalancerReadyReason = clusterv1.ReadyReason
	// FooClusterLoadBalancerNotReadyReason says that the cloud reports the load balancer as not ready.
	FooClusterLoadBalancerNotReadyReason = clusterv1.NotReadyReason
	// FooClusterEndpointProvidedReason says that the user set the endpoint, so no load balancer is
	// created.
	FooClusterEndpointProvidedReason = "EndpointProvided"
	// FooClusterLoadBalancerDeletingReason says that the load balancer is being deleted.
	FooClusterLoadBalancerDeletingReason = clusterv1.DeletingReason
)

// FooCluster's FailureDomainsReady condition and its reasons, besides the cloud's reasons.
const (
	// FooClusterFailureDomainsReadyCondition is true while the cluster's zones are known and at least
	// one of them is for control planes.
	FooClusterFailureDomainsReadyCondition = "FailureDomainsReady"
	// FooClusterFailureDomainsReadyReason says that the zones are known.
	FooClusterFailureDomainsReadyReason = clusterv1.ReadyReason
	// FooClusterNoFailureDomainsReason says that there is no zone, or none for control planes.
	FooClusterNoFailureDomainsReason = "NoFailureDomains"
)

// FooClusterIdentity's Ready condition and its reasons, besides the cloud's reasons.
const (
	// FooClusterIdentityReadyCondition is true while the cloud accepts the credentials for the
	// tenant. It is checked whenever the identity or its Secret changes, and once a minute.
	FooClusterIdentityReadyCondition = clusterv1.ReadyCondition
	// FooClusterIdentityReadyReason says that the cloud accepts the credentials.
	FooClusterIdentityReadyReason = clusterv1.ReadyReason
	// FooClusterIdentitySecretMissingReason says that the Secret does not exist.
	FooClusterIdentitySecretMissingReason = "SecretMissing"
	// FooClusterIdentityDeletingReason says that the identity is being deleted and is waiting for
	// the FooClusters that use it.
	FooClusterIdentityDeletingReason = clusterv1.DeletingReason
	// FooClusterIdentitySecretMalformedReason says that the Secret has no token or has the wrong
	// type.
	FooClusterIdentitySecretMalformedReason = "SecretMalformed"
)

// FooMachine's Ready condition and its reasons.
const (
	// FooMachineReadyCondition is true while the instance runs and is not being reclaimed, its
	// bootstrap did not fail and the FooMachine is not being deleted. Cluster API mirrors it into
	// the Machine's InfrastructureReady condition.
	FooMachineReadyCondition = clusterv1.ReadyCondition
	// FooMachineReadyReason says that the FooMachine is ready.
	FooMachineReadyReason = clusterv1.ReadyReason
	// FooMachineReclaimNoticeReason says that the cloud will reclaim the instance, because it is
	// interruptible or its host is being drained; the message says when. The instance works until
	// then. A pool replaces its instance; other instances are replaced if a MachineHealthCheck checks
	// the Machine's InfrastructureReady condition, with a timeout shorter than the notice.
	FooMachineReclaimNoticeReason = "ReclaimNotice"
	// FooMachineDeletingReason says that the FooMachine is being deleted.
	FooMachineDeletingReason = clusterv1.DeletingReason
)

// FooMachine's InstanceProvisioned condition and its reasons, besides the cloud's reasons.
const (
	// FooMachineInstanceProvisionedCondition is true while the instance runs, and unknown while the
	// cloud does not say whether it does.
	FooMachineInstanceProvisionedCondition = "InstanceProvisioned"
	// FooMachineInstanceProvisionedReason says that the instance runs.
	FooMachineInstanceProvisionedReason = clusterv1.ProvisionedReason
	// FooMachineWaitingForClusterInfrastructureReason says that the cluster's infrastructure is not
	// provisioned yet.
	FooMachineWaitingForClusterInfrastructureReason = clusterv1.WaitingForClusterInfrastructureReadyReason
	// FooMachineWaitingForControlPlaneReason says that the control plane is not initialized yet.
	FooMachineWaitingForControlPlaneReason = clusterv1.WaitingForControlPlaneInitializedReason
	// FooMachineWaitingForBootstrapDataReason says that the bootstrap data does not exist yet.
	FooMachineWaitingForBootstrapDataReason = clusterv1.WaitingForBootstrapDataReason
	// FooMachineWaitingForPoolReason says that the pool has not created the instance yet.
	FooMachineWaitingForPoolReason = "WaitingForPool"
	// FooMachineInstancePendingReason says that the cloud is creating the instance.
	FooMachineInstancePendingReason = "InstancePending"
	// FooMachineInstanceStoppedReason says that the instance has stopped. It does not start again by
	// itself, but the local cloud can start it, with its disk.
	FooMachineInstanceStoppedReason = "InstanceStopped"
	// FooMachineInstanceFailedReason says that the cloud could not create the instance.
	FooMachineInstanceFailedReason = "InstanceFailed"
	// FooMachineInstanceDeletingReason says that the instance is being deleted.
	FooMachineInstanceDeletingReason = "InstanceDeleting"
	// FooMachineInstanceNotFoundReason says that the instance is gone although nobody requested its
	// deletion.
	FooMachineInstanceNotFoundReason = "InstanceNotFound"
)

// FooMachine's BootstrapExecSucceeded condition and its reasons.
const (
	// FooMachineBootstrapExecSucceededCondition is true once all commands of the bootstrap data
	// have succeeded.
	FooMachineBootstrapExecSucceededCondition = "BootstrapExecSucceeded"
	// FooMachineBootstrapSucceededReason says that the bootstrap succeeded.
	FooMachineBootstrapSucceededReason = "BootstrapSucceeded"
	// FooMachineBootstrapFailedReason says that a command failed; the message says which.
	FooMachineBootstrapFailedReason = "BootstrapFailed"
	// FooMachineBootstrapRunningReason says that the commands are running.
	FooMachineBootstrapRunningReason = "BootstrapRunning"
	// FooMachineBootstrapPendingReason says that the instance has not started its bootstrap.
	FooMachineBootstrapPendingReason = "BootstrapPending"
)

// FooMachinePool's Ready condition and its reasons.
const (
	// FooMachinePoolReadyCondition is true while the pool is provisioned, all its instances are
	// ready and the FooMachinePool is not being deleted. Otherwise, unless it is being deleted, its
	// reason and message come from PoolProvisioned or, if that is True, from InstancesReady.
	FooMachinePoolReadyCondition = clusterv1.ReadyCondition
	// FooMachinePoolReadyReason says that the FooMachinePool is ready.
	FooMachinePoolReadyReason = clusterv1.ReadyReason
	// FooMachinePoolDeletingReason says that the FooMachinePool is being deleted.
	FooMachinePoolDeletingReason = clusterv1.DeletingReason
)

// FooMachinePool's PoolProvisioned condition and its reasons, besides the cloud's reasons.
const (
	// FooMachinePoolPoolProvisionedCondition is true while the pool in the cloud matches the spec.
	FooMachinePoolPoolProvisionedCondition = "PoolProvisioned"
	// FooMachinePoolPoolProvisionedReason says that the pool matches the spec.
	FooMachinePoolPoolProvisionedReason = clusterv1.ProvisionedReason
	// FooMachinePoolWaitingForClusterInfrastructureReason says that the cluster's infrastructure is
	// not provisioned yet.
	FooMachinePoolWaitingForClusterInfrastructureReason = clusterv1.WaitingForClusterInfrastructureReadyReason
	// FooMachinePoolWaitingForControlPlaneReason says that the control plane is not initialized yet.
	FooMachinePoolWaitingForControlPlaneReason = clusterv1.WaitingForControlPlaneInitializedReason
	// FooMachinePoolWaitingForBootstrapDataReason says that the bootstrap data does not exist yet.
	FooMachinePoolWaitingForBootstrapDataReason = clusterv1.WaitingForBootstrapDataReason
	// FooMachinePoolNotReferencedReason says that the infrastructureRef of the MachinePool now
	// names another object. The pool stays as it is until its FooMachinePool is deleted.
	FooMachinePoolNotReferencedReason = "NotReferenced"
	// FooMachinePoolPoolNotFoundReason says that the cloud does not have the pool that was created.
	// Nothing is deleted in response: another tenant's cloud may have answered.
	FooMachinePoolPoolNotFoundReason = "NotFound"
	// FooMachinePoolPoolDeletingReason says that the pool is being deleted.
	FooMachinePoolPoolDeletingReason = clusterv1.DeletingReason
)

// FooMachinePool's InstancesReady condition and its reasons.
const (
	// FooMachinePoolInstancesReadyCondition is true while the pool has the desired number of
	// instances and all are ready.
	FooMachinePoolInstancesReadyCondition = "InstancesReady"
	// FooMachinePoolInstancesReadyReason says that all instances are ready.
	FooMachinePoolInstancesReadyReason = clusterv1.ReadyReason
	// FooMachinePoolInstancesNotReadyReason says that instances are missing, or do not run with a
	// successful bootstrap; the message names the latter. status.availableReplicas shows whether
	// Nodes joined.
	FooMachinePoolInstancesNotReadyReason = clusterv1.NotReadyReason
	// FooMachinePoolNoInstancesReason says that the pool has no instances and should have none.
	FooMachinePoolNoInstancesReason = clusterv1.NoReplicasReason
)

// FooMachinePool's ScalingUp and ScalingDown conditions and their reasons.
const (
	// FooMachinePoolScalingUpCondition is true while the pool has fewer instances than desired.
	FooMachinePoolScalingUpCondition = clusterv1.ScalingUpCondition
	// FooMachinePoolScalingUpReason says that the pool has fewer instances than desired.
	FooMachinePoolScalingUpReason = clusterv1.ScalingUpReason
	// FooMachinePoolNotScalingUpReason says that the pool has enough instances.
	FooMachinePoolNotScalingUpReason = clusterv1.NotScalingUpReason
	// FooMachinePoolScalingDownCondition is true while the pool has more instances than desired.
	FooMachinePoolScalingDownCondition = clusterv1.ScalingDownCondition
	// FooMachinePoolScalingDownReason says that the pool has more instances than desired. Nothing is
	// removed until Cluster API has created a Machine for each instance.
	FooMachinePoolScalingDownReason = clusterv1.ScalingDownReason
	// FooMachinePoolNotScalingDownReason says that the pool does not have too many instances.
	FooMachinePoolNotScalingDownReason = clusterv1.NotScalingDownReason
)

// FooMachinePool's RollingOut condition and its reasons.
const (
	// FooMachinePoolRollingOutCondition is true while instances are being replaced.
	FooMachinePoolRollingOutCondition = clusterv1.RollingOutCondition
	// FooMachinePoolRollingOutReason says that instances of an earlier revision are being replaced.
	FooMachinePoolRollingOutReason = clusterv1.RollingOutReason
	// FooMachinePoolRepairingReason says that instances are being replaced because they are lost,
	// do not work, never joined, are being reclaimed by the cloud, or were marked by a
	// MachineHealthCheck.
	FooMachinePoolRepairingReason = "Repairing"
	// FooMachinePoolRolloutPausedReason says that instances of an earlier revision are kept, as the
	// strategy requests.
	FooMachinePoolRolloutPausedReason = "RolloutPaused"
	// FooMachinePoolNotRollingOutReason says that there is nothing to replace.
	FooMachinePoolNotRollingOutReason = clusterv1.NotRollingOutReason
)

// FooMachinePool's Stalled condition and its reasons, besides the cloud's reasons for creating no
// instance.
const (
	// FooMachinePoolStalledCondition is true while the pool makes no progress: instances do not
	// join even after replacements, or the cloud does not create the requested instances.
	FooMachinePoolStalledCondition = "Stalled"
	// FooMachinePoolNodesDoNotJoinReason says that instances do not join; the message says why the
	// last one did not.
	FooMachinePoolNodesDoNotJoinReason = "NodesDoNotJoin"
	// FooMachinePoolNodesNotAvailableReason says that a rollout is waiting for Nodes that joined
	// but did not become available in time.
	FooMachinePoolNodesNotAvailableReason = "NodesNotAvailable"
	// FooMachinePoolMachineDeletionStuckReason says that Machines have been in deletion for longer
	// than nodeJoinTimeoutSeconds; the message names them.
	FooMachinePoolMachineDeletionStuckReason = "MachineDeletionStuck"
	// FooMachinePoolNotStalledReason says that the pool makes progress, or it is too early to tell.
	FooMachinePoolNotStalledReason = "NotStalled"
)

// The Deleting condition of all kinds and its reasons.
const (
	// DeletingCondition is true while an object is being deleted; the message says what the
	// deletion waits for.
	DeletingCondition = clusterv1.DeletingCondition
	// DeletingReason says that the object is being deleted.
	DeletingReason = clusterv1.DeletingReason
	// NotDeletingReason says that the object is not being deleted.
	NotDeletingReason = clusterv1.NotDeletingReason
	// DeletionCompletedReason says that nothing is left in the cloud.
	DeletionCompletedReason = clusterv1.DeletionCompletedReason
)
