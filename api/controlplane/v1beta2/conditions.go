// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Available condition and its reasons.
const (
	// AvailableCondition is true while the control plane can serve: all certificates exist, at
	// least one Machine's components are healthy, and etcd has quorum. Cluster API mirrors it into
	// the Cluster's ControlPlaneAvailable condition.
	AvailableCondition = clusterv1.AvailableCondition
	// AvailableReason says that the control plane can serve.
	AvailableReason = clusterv1.AvailableReason
	// NotAvailableReason says that the control plane cannot serve requests; the message says why.
	NotAvailableReason = clusterv1.NotAvailableReason
	// AvailableInspectionFailedReason says that the control plane could not be inspected.
	AvailableInspectionFailedReason = clusterv1.InspectionFailedReason
)

// Initialized condition and its reasons.
const (
	// InitializedCondition is true once the control plane can accept requests; it never goes back
	// to false.
	InitializedCondition = "Initialized"
	// InitializedReason says that the control plane has been initialized.
	InitializedReason = "Initialized"
	// NotInitializedReason says that the control plane has not been initialized yet.
	NotInitializedReason = "NotInitialized"
)

// CertificatesAvailable condition and its reasons.
const (
	// CertificatesAvailableCondition is true while all Secrets with the cluster's certificates
	// exist and can be used. Its message names those that expire soon, and a kubeconfig that
	// cannot be renewed.
	CertificatesAvailableCondition = "CertificatesAvailable"
	// CertificatesAvailableReason says that all certificates exist.
	CertificatesAvailableReason = clusterv1.AvailableReason
	// CertificatesNotAvailableReason says that a Secret is missing or invalid and is not generated,
	// because Machines use the old one or because it belongs to an external etcd.
	CertificatesNotAvailableReason = clusterv1.NotAvailableReason
	// CertificatesInternalErrorReason says that certificates could not be read or created.
	CertificatesInternalErrorReason = clusterv1.InternalErrorReason
)

// EtcdClusterHealthy condition and its reasons. It is not set with external etcd.
const (
	// EtcdClusterHealthyCondition is true while all members of the etcd cluster are healthy.
	EtcdClusterHealthyCondition = "EtcdClusterHealthy"
	// EtcdClusterHealthyReason says that all members are healthy.
	EtcdClusterHealthyReason = "Healthy"
	// EtcdClusterNotHealthyReason says that a member is not healthy; the message says which.
	EtcdClusterNotHealthyReason = "NotHealthy"
	// EtcdClusterHealthUnknownReason says that the health is unknown.
	EtcdClusterHealthUnknownReason = "HealthUnknown"
	// EtcdClusterInspectionFailedReason says that the members could not be queried.
	EtcdClusterInspectionFailedReason = clusterv1.InspectionFailedReason
)

// ControlPlaneComponentsHealthy condition and its reasons.
const (
	// ControlPlaneComponentsHealthyCondition is true while the static pods of all Machines are
	// healthy.
	ControlPlaneComponentsHealthyCondition = "ControlPlaneComponentsHealthy"
	// ControlPlaneComponentsHealthyReason says that all static pods are healthy.
	ControlPlaneComponentsHealthyReason = "Healthy"
	// ControlPlaneComponentsNotHealthyReason says that a static pod is not healthy; the message says
	// which.
	ControlPlaneComponentsNotHealthyReason = "NotHealthy"
	// ControlPlaneComponentsInspectionFailedReason says that the pods could not be read.
	ControlPlaneComponentsInspectionFailedReason = clusterv1.InspectionFailedReason
)

// MachinesReady condition and its reasons.
const (
	// MachinesReadyCondition is true while the Ready condition of all Machines is true.
	MachinesReadyCondition = clusterv1.MachinesReadyCondition
	// MachinesReadyReason says that all Machines are ready.
	MachinesReadyReason = clusterv1.ReadyReason
	// MachinesNotReadyReason says that a Machine is not ready; the message says which.
	MachinesNotReadyReason = clusterv1.NotReadyReason
	// MachinesReadyUnknownReason says that the readiness of one is unknown.
	MachinesReadyUnknownReason = clusterv1.ReadyUnknownReason
	// MachinesReadyNoReplicasReason says that there is no Machine.
	MachinesReadyNoReplicasReason = clusterv1.NoReplicasReason
	// MachinesReadyInternalErrorReason says that computing the condition failed.
	MachinesReadyInternalErrorReason = clusterv1.InternalErrorReason
)

// MachinesUpToDate condition and its reasons.
const (
	// MachinesUpToDateCondition is true while the UpToDate condition of all Machines is true.
	MachinesUpToDateCondition = clusterv1.MachinesUpToDateCondition
	// MachinesUpToDateReason says that all Machines are up to date.
	MachinesUpToDateReason = clusterv1.UpToDateReason
	// MachinesNotUpToDateReason says that a Machine is out of date; the message says which and why.
	MachinesNotUpToDateReason = clusterv1.NotUpToDateReason
	// MachinesUpToDateNoReplicasReason says that there is no Machine.
	MachinesUpToDateNoReplicasReason = clusterv1.NoReplicasReason
)

// AddonsUpToDate condition and its reasons.
const (
	// AddonsUpToDateCondition is true if kube-proxy and CoreDNS matched the spec at the last check.
	// It is not set before the first check, which waits until all Machines are healthy.
	AddonsUpToDateCondition = "AddonsUpToDate"
	// AddonsUpToDateReason says that both add-ons matched.
	AddonsUpToDateReason = clusterv1.UpToDateReason
	// AddonsNotUpToDateReason says that an add-on could not be updated; the message says which and
	// why. The update is retried.
	AddonsNotUpToDateReason = clusterv1.NotUpToDateReason
)

// RollingOut, ScalingUp and ScalingDown conditions and their reasons.
const (
	// RollingOutCondition is true while a Machine is not up to date and its replacement is not on
	// hold.
	RollingOutCondition = clusterv1.RollingOutCondition
	// RollingOutReason says that a Machine is being replaced or waits for its replacement.
	RollingOutReason = clusterv1.RollingOutReason
	// NotRollingOutReason says that all Machines are up to date.
	NotRollingOutReason = clusterv1.NotRollingOutReason
	// RolloutHeldReason says that Machines are not up to date although the user changed nothing
	// since they were created, for example after a controller update. The message lists the
	// differences and the annotation that lets the rollout continue.
	RolloutHeldReason = "RolloutHeld"

	// ScalingUpCondition is true while there are fewer Machines than desired.
	ScalingUpCondition = clusterv1.ScalingUpCondition
	// ScalingUpReason says that there are fewer Machines than desired.
	ScalingUpReason = clusterv1.ScalingUpReason
	// NotScalingUpReason says that there are enough Machines.
	NotScalingUpReason = clusterv1.NotScalingUpReason

	// ScalingDownCondition is true while there are more Machines than desired.
	ScalingDownCondition = clusterv1.ScalingDownCondition
	// ScalingDownReason says that there are more Machines than desired.
	ScalingDownReason = clusterv1.ScalingDownReason
	// NotScalingDownReason says that there are not too many Machines.
	NotScalingDownReason = clusterv1.NotScalingDownReason
)

// Remediating condition, and a Machine's OwnerRemediated condition and their reasons.
const (
	// RemediatingCondition is true while an unhealthy Machine is waiting to be replaced.
	RemediatingCondition = clusterv1.RemediatingCondition
	// RemediatingReason says that an unhealthy Machine is waiting to be replaced.
	RemediatingReason = clusterv1.RemediatingReason
	// NotRemediatingReason says that no Machine is waiting to be replaced.
	NotRemediatingReason = clusterv1.NotRemediatingReason

	// MachineCannotBeRemediatedReason says that an unhealthy Machine is not replaced until somebody
	// repairs or changes something; the message says why.
	MachineCannotBeRemediatedReason = "CannotBeRemediated"
	// MachineRemediationDeferredReason says that an unhealthy Machine cannot be replaced safely
	// now.
	MachineRemediationDeferredReason = "RemediationDeferred"
	// MachineRemediationMachineDeletingReason says that an unhealthy Machine is being deleted for
	// its replacement.
	MachineRemediationMachineDeletingReason = "MachineDeleting"
	// MachineRemediationInternalErrorReason says that the remediation failed.
	MachineRemediationInternalErrorReason = clusterv1.InternalErrorReason
)

// Deleting condition and its reasons.
const (
	// DeletingCondition is true while the FooControlPlane is being deleted.
	DeletingCondition = clusterv1.DeletingCondition
	// NotDeletingReason says that the FooControlPlane is not being deleted.
	NotDeletingReason = clusterv1.NotDeletingReason
	// DeletingWaitingForWorkersDeletionReason says that workers must be deleted first.
	DeletingWaitingForWorkersDeletionReason = "WaitingForWorkersDeletion"
	// DeletingWaitingForMachineDeletionReason says that the control plane's Machines are being
	// deleted.
	DeletingWaitingForMachineDeletionReason = "WaitingForMachineDeletion"
	// DeletingDeletionCompletedReason says that nothing is left.
	DeletingDeletionCompletedReason = clusterv1.DeletionCompletedReason
	// DeletingInternalErrorReason says that the deletion failed.
	DeletingInternalErrorReason = clusterv1.InternalErrorReason
)

// Conditions that a FooControlPlane sets on its Machines and their reasons. They are readiness
// gates of the Machines.
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

	// MachineNodeKubeadmLabelsAndTaintsSetCondition is about the label and the taint that kubeadm
	// gives the Machine's Node.
	MachineNodeKubeadmLabelsAndTaintsSetCondition = "NodeKubeadmLabelsAndTaintsSet"
	// MachineNodeKubeadmLabelsAndTaintsSetReason says that the Node has both.
	MachineNodeKubeadmLabelsAndTaintsSetReason = "Set"
	// MachineNodeKubeadmLabelsAndTaintsNotSetReason says that the Node lacks one of them; the message
	// says which.
	MachineNodeKubeadmLabelsAndTaintsNotSetReason = "NotSet"

	// MachineEtcdMemberHealthyCondition is about the Machine's etcd member; not set with external
	// etcd.
	MachineEtcdMemberHealthyCondition = "EtcdMemberHealthy"
	// MachineEtcdMemberHealthyReason says that the member is healthy.
	MachineEtcdMemberHealthyReason = "Healthy"
	// MachineEtcdMemberNotHealthyReason says that the member is not healthy.
	MachineEtcdMemberNotHealthyReason = "NotHealthy"

	// MachineInspectionFailedReason says that the subject of the condition could not be read.
	MachineInspectionFailedReason = clusterv1.InspectionFailedReason
	// MachineDeletingReason says that the Machine is being deleted.
	MachineDeletingReason = "Deleting"
)
