// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Available condition and its reasons.
const (
	// AvailableCondition is true while the control plane can serve: certificates are there, at least one Machine's
	// components are healthy, and etcd has its quorum. Cluster API mirrors it into the Cluster's ControlPlaneAvailable.
	AvailableCondition = clusterv1.AvailableCondition
	// AvailableReason says that the control plane can serve.
	AvailableReason = clusterv1.AvailableReason
	// NotAvailableReason says that it can not; the message says why.
	NotAvailableReason = clusterv1.NotAvailableReason
	// AvailableInspectionFailedReason says that the control plane could not be looked at.
	AvailableInspectionFailedReason = clusterv1.InspectionFailedReason
)

// Initialized condition and its reasons.
const (
	// InitializedCondition is true once the control plane could accept requests; it never goes back to false.
	InitializedCondition = "Initialized"
	// InitializedReason says that it could.
	InitializedReason = "Initialized"
	// NotInitializedReason says that it could not yet.
	NotInitializedReason = "NotInitialized"
)

// CertificatesAvailable condition and its reasons.
const (
	// CertificatesAvailableCondition is true while all secrets with the cluster's certificates are there.
	CertificatesAvailableCondition = "CertificatesAvailable"
	// CertificatesAvailableReason says that they are.
	CertificatesAvailableReason = clusterv1.AvailableReason
	// CertificatesNotAvailableReason says that one is missing after the control plane was initialized. It is not made
	// anew, since what runs trusts the old one.
	CertificatesNotAvailableReason = clusterv1.NotAvailableReason
	// CertificatesInternalErrorReason says that looking up or making them failed.
	CertificatesInternalErrorReason = clusterv1.InternalErrorReason
)

// EtcdClusterHealthy condition and its reasons. It is not set with external etcd.
const (
	// EtcdClusterHealthyCondition is true while all members of the etcd cluster are healthy.
	EtcdClusterHealthyCondition = "EtcdClusterHealthy"
	// EtcdClusterHealthyReason says that they are.
	EtcdClusterHealthyReason = "Healthy"
	// EtcdClusterNotHealthyReason says that one is not; the message says which.
	EtcdClusterNotHealthyReason = "NotHealthy"
	// EtcdClusterHealthUnknownReason says that it could not be told.
	EtcdClusterHealthUnknownReason = "HealthUnknown"
	// EtcdClusterInspectionFailedReason says that the members could not be asked.
	EtcdClusterInspectionFailedReason = clusterv1.InspectionFailedReason
)

// ControlPlaneComponentsHealthy condition and its reasons.
const (
	// ControlPlaneComponentsHealthyCondition is true while the static pods of all Machines are healthy.
	ControlPlaneComponentsHealthyCondition = "ControlPlaneComponentsHealthy"
	// ControlPlaneComponentsHealthyReason says that they are.
	ControlPlaneComponentsHealthyReason = "Healthy"
	// ControlPlaneComponentsNotHealthyReason says that one is not; the message says which.
	ControlPlaneComponentsNotHealthyReason = "NotHealthy"
	// ControlPlaneComponentsInspectionFailedReason says that the pods could not be read.
	ControlPlaneComponentsInspectionFailedReason = clusterv1.InspectionFailedReason
)

// MachinesReady condition and its reasons.
const (
	// MachinesReadyCondition is true while the Ready condition of all Machines is.
	MachinesReadyCondition = clusterv1.MachinesReadyCondition
	// MachinesReadyReason says that they all are.
	MachinesReadyReason = clusterv1.ReadyReason
	// MachinesNotReadyReason says that one is not; the message says which.
	MachinesNotReadyReason = clusterv1.NotReadyReason
	// MachinesReadyUnknownReason says that of one it could not be told.
	MachinesReadyUnknownReason = clusterv1.ReadyUnknownReason
	// MachinesReadyNoReplicasReason says that there is no Machine.
	MachinesReadyNoReplicasReason = clusterv1.NoReplicasReason
	// MachinesReadyInternalErrorReason says that computing the condition failed.
	MachinesReadyInternalErrorReason = clusterv1.InternalErrorReason
)

// MachinesUpToDate condition and its reasons.
const (
	// MachinesUpToDateCondition is true while the UpToDate condition of all Machines is.
	MachinesUpToDateCondition = clusterv1.MachinesUpToDateCondition
	// MachinesUpToDateReason says that they all are.
	MachinesUpToDateReason = clusterv1.UpToDateReason
	// MachinesNotUpToDateReason says that one is not; the message says which and why.
	MachinesNotUpToDateReason = clusterv1.NotUpToDateReason
	// MachinesUpToDateNoReplicasReason says that there is no Machine.
	MachinesUpToDateNoReplicasReason = clusterv1.NoReplicasReason
)

// AddonsUpToDate condition and its reasons.
const (
	// AddonsUpToDateCondition is true if kube-proxy and CoreDNS were in step with the spec when they were last looked at. It is
	// not set before that, which is when all Machines are healthy for the first time.
	AddonsUpToDateCondition = "AddonsUpToDate"
	// AddonsUpToDateReason says that they were.
	AddonsUpToDateReason = clusterv1.UpToDateReason
	// AddonsNotUpToDateReason says that one of them could not be brought in step; the message says which and why. It is tried
	// again.
	AddonsNotUpToDateReason = clusterv1.NotUpToDateReason
)

// RollingOut, ScalingUp and ScalingDown conditions and their reasons.
const (
	// RollingOutCondition is true while a Machine is not up to date and its replacement is not held.
	RollingOutCondition = clusterv1.RollingOutCondition
	// RollingOutReason says that one is not.
	RollingOutReason = clusterv1.RollingOutReason
	// NotRollingOutReason says that all are.
	NotRollingOutReason = clusterv1.NotRollingOutReason
	// RolloutHeldReason says that Machines are not up to date though the user has changed nothing since they were made, as
	// after an update of the controller. The message says in what, and by which annotation the rollout is let go on.
	RolloutHeldReason = "RolloutHeld"

	// ScalingUpCondition is true while there are fewer Machines than wanted.
	ScalingUpCondition = clusterv1.ScalingUpCondition
	// ScalingUpReason says that there are fewer.
	ScalingUpReason = clusterv1.ScalingUpReason
	// NotScalingUpReason says that there are not.
	NotScalingUpReason = clusterv1.NotScalingUpReason

	// ScalingDownCondition is true while there are more Machines than wanted.
	ScalingDownCondition = clusterv1.ScalingDownCondition
	// ScalingDownReason says that there are more.
	ScalingDownReason = clusterv1.ScalingDownReason
	// NotScalingDownReason says that there are not.
	NotScalingDownReason = clusterv1.NotScalingDownReason
)

// Remediating condition and its reasons, and those of a Machine's OwnerRemediated condition.
const (
	// RemediatingCondition is true while an unhealthy Machine waits to be replaced.
	RemediatingCondition = clusterv1.RemediatingCondition
	// RemediatingReason says that one does.
	RemediatingReason = clusterv1.RemediatingReason
	// NotRemediatingReason says that none does.
	NotRemediatingReason = clusterv1.NotRemediatingReason

	// MachineCannotBeRemediatedReason says that an unhealthy Machine can not be replaced safely at all.
	MachineCannotBeRemediatedReason = "CannotBeRemediated"
	// MachineRemediationDeferredReason says that an unhealthy Machine can not be replaced safely now.
	MachineRemediationDeferredReason = "RemediationDeferred"
	// MachineRemediationMachineDeletingReason says that an unhealthy Machine is being deleted for its replacement.
	MachineRemediationMachineDeletingReason = "MachineDeleting"
	// MachineRemediationInternalErrorReason says that the remediation failed.
	MachineRemediationInternalErrorReason = clusterv1.InternalErrorReason
)

// Deleting condition and its reasons.
const (
	// DeletingCondition is true while the FooControlPlane is being deleted.
	DeletingCondition = clusterv1.DeletingCondition
	// NotDeletingReason says that it is not.
	NotDeletingReason = clusterv1.NotDeletingReason
	// DeletingWaitingForWorkersDeletionReason says that workers must go first.
	DeletingWaitingForWorkersDeletionReason = "WaitingForWorkersDeletion"
	// DeletingWaitingForMachineDeletionReason says that the control plane's Machines are being deleted.
	DeletingWaitingForMachineDeletionReason = "WaitingForMachineDeletion"
	// DeletingDeletionCompletedReason says that nothing is left.
	DeletingDeletionCompletedReason = clusterv1.DeletionCompletedReason
	// DeletingInternalErrorReason says that the deletion failed.
	DeletingInternalErrorReason = clusterv1.InternalErrorReason
)

// Conditions that a FooControlPlane sets on its Machines, and their reasons. They are readiness gates of the Machines.
const (
	// MachineAPIServerPodHealthyCondition is about the Machine's kube-apiserver pod.
	MachineAPIServerPodHealthyCondition = "APIServerPodHealthy"
	// MachineControllerManagerPodHealthyCondition is about the Machine's kube-controller-manager pod.
	MachineControllerManagerPodHealthyCondition = "ControllerManagerPodHealthy"
	// MachineSchedulerPodHealthyCondition is about the Machine's kube-scheduler pod.
	MachineSchedulerPodHealthyCondition = "SchedulerPodHealthy"
	// MachineEtcdPodHealthyCondition is about the Machine's etcd pod; not set with external etcd.
	MachineEtcdPodHealthyCondition = "EtcdPodHealthy"
	// MachinePodRunningReason says that the pod runs and is ready.
	MachinePodRunningReason = "Running"
	// MachinePodProvisioningReason says that the pod is starting.
	MachinePodProvisioningReason = "Provisioning"
	// MachinePodDoesNotExistReason says that there is no such pod.
	MachinePodDoesNotExistReason = "DoesNotExist"
	// MachinePodFailedReason says that the pod failed.
	MachinePodFailedReason = "Failed"

	// MachineNodeKubeadmLabelsAndTaintsSetCondition is about the label and the taint that kubeadm gives the Machine's Node.
	MachineNodeKubeadmLabelsAndTaintsSetCondition = "NodeKubeadmLabelsAndTaintsSet"
	// MachineNodeKubeadmLabelsAndTaintsSetReason says that the Node has them.
	MachineNodeKubeadmLabelsAndTaintsSetReason = "Set"
	// MachineNodeKubeadmLabelsAndTaintsNotSetReason says that it does not; the message says which is missing.
	MachineNodeKubeadmLabelsAndTaintsNotSetReason = "NotSet"

	// MachineEtcdMemberHealthyCondition is about the Machine's etcd member; not set with external etcd.
	MachineEtcdMemberHealthyCondition = "EtcdMemberHealthy"
	// MachineEtcdMemberHealthyReason says that the member is healthy.
	MachineEtcdMemberHealthyReason = "Healthy"
	// MachineEtcdMemberNotHealthyReason says that it is not.
	MachineEtcdMemberNotHealthyReason = "NotHealthy"

	// MachineInspectionFailedReason says that what the condition is about could not be read.
	MachineInspectionFailedReason = clusterv1.InspectionFailedReason
	// MachineDeletingReason says that the Machine is being deleted.
	MachineDeletingReason = "Deleting"
)
