// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	corev1 "k8s.io/api/core/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

// eventKinds maps the reasons that are worth an event to the event's type.
var eventKinds = cloudfault.EventKinds(report.Kinds{
	infrav1.FooMachinePoolPoolProvisionedReason:      corev1.EventTypeNormal,
	infrav1.FooMachinePoolInstancesReadyReason:       corev1.EventTypeNormal,
	infrav1.FooMachinePoolScalingUpReason:            corev1.EventTypeNormal,
	infrav1.FooMachinePoolScalingDownReason:          corev1.EventTypeNormal,
	infrav1.FooMachinePoolRollingOutReason:           corev1.EventTypeNormal,
	infrav1.FooMachinePoolRepairingReason:            corev1.EventTypeNormal,
	infrav1.FooMachinePoolRolloutPausedReason:        corev1.EventTypeNormal,
	infrav1.FooMachinePoolNodesDoNotJoinReason:       corev1.EventTypeWarning,
	infrav1.FooMachinePoolNodesNotAvailableReason:    corev1.EventTypeWarning,
	infrav1.FooMachinePoolMachineDeletionStuckReason: corev1.EventTypeWarning,
	infrav1.FooMachinePoolPoolNotFoundReason:         corev1.EventTypeWarning,
	infrav1.DeletingReason:                           corev1.EventTypeNormal,
})
