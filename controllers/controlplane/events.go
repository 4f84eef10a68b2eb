// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// maxNote is the API server's limit for the note of an event, in bytes.
const maxNote = 1024

// announce emits one event for what was done or for what failed. Waiting emits none: the conditions
// show it.
func announce(recorder events.EventRecorder, controlPlane *controlplanev1.FooControlPlane, next plan.Decision, failure error) {
	idle := !next.Acts()
	switch {
	case failure != nil && idle:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeWarning, "ReconcileFailed", "Reconcile", "%.*s", maxNote, failure.Error())
	case failure != nil:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeWarning, next.Reason+"Failed", string(next.Action), "%.*s", maxNote, next.Message+": "+failure.Error())
	case !idle && next.Action != plan.ActionFinish:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeNormal, next.Reason, string(next.Action), "%.*s", maxNote, next.Message)
	}
}
