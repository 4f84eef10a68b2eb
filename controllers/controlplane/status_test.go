// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/events"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// The API server counts the bytes of an event's note. A longer one would be lost.
func TestEventsAreShortEnough(t *testing.T) {
	g := NewWithT(t)
	recorder := events.NewFakeRecorder(3)
	long := strings.Repeat("“", 1000)
	for _, failure := range []error{nil, errors.New(long)} {
		announce(recorder, &controlplanev1.FooControlPlane{}, plan.Decision{Action: plan.ActionCreate, Reason: "R", Message: long}, failure)
	}
	announce(recorder, &controlplanev1.FooControlPlane{}, plan.Decision{Action: plan.ActionWait}, errors.New(long))
	for _, before := range []string{"Normal R ", "Warning RFailed ", "Warning ReconcileFailed "} {
		note, found := strings.CutPrefix(<-recorder.Events, before)
		g.Expect(found).To(BeTrue(), before)
		g.Expect(len(note)).To(And(BeNumerically("<=", 1024), BeNumerically(">", 1000)), before)
	}
}
