// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// Only the cloud's own NotFound means that an instance is gone. Every other error, a rejected token
// above all, leaves the known state as it is, deletes nothing and releases no FooMachine.
func TestAnErrorOfTheCloudIsNoLostInstance(t *testing.T) {
	for reason, err := range map[cloud.Reason]error{
		cloud.ReasonUnauthorized:  &cloud.UnauthorizedError{Message: "the token belongs to no tenant"},
		cloud.ReasonThrottled:     &cloud.ThrottledError{RetryAfter: 3 * time.Second},
		cloud.ReasonUnavailable:   &cloud.UnavailableError{Message: "down"},
		cloud.ReasonQuotaExceeded: &cloud.QuotaExceededError{Resource: "cpus"},
		cloud.ReasonInvalid:       &cloud.InvalidError{Field: "id", Value: "i1", Problem: "odd"},
		cloud.ReasonUnknown:       errors.New("connection reset"),
	} {
		t.Run(string(reason), func(t *testing.T) {
			g := NewWithT(t)
			foocloud := fake.New(fake.Options{})
			foocloud.Fail(fake.CallGetInstance, err)

			known := newState(running)
			setStatus(known, reported(known))
			s := newState()
			s.fooMachine.Spec.ProviderID = "foo:///zone-b/i1"
			s.fooMachine.Status = *known.fooMachine.Status.DeepCopy()
			observe(t.Context(), foocloud, s)
			g.Expect(s.lost).To(BeFalse())
			g.Expect(decide(s).action).To(Equal(keep))
			setStatus(s, reported(s))
			g.Expect(s.fooMachine.Status.Addresses).To(Equal(known.fooMachine.Status.Addresses))
			g.Expect(s.fooMachine.Status.InstanceID).To(Equal("i1"))
			ready := conditions.Get(s.fooMachine, infrav1.FooMachineReadyCondition)
			g.Expect(ready.Status).To(Equal(metav1.ConditionUnknown), "a MachineHealthCheck replaces a Machine whose infrastructure is not ready")
			g.Expect(ready.Reason).To(Equal(string(reason)))

			leaving := newState(deleting)
			leaving.fooMachine.Spec.ProviderID = "foo:///zone-b/i1"
			observe(t.Context(), foocloud, leaving)
			g.Expect(decide(leaving).action).To(Equal(keep), "the finalizer stays")
		})
	}
}

// A stale cache that does not show an order yet must not cause an instance that was lost since to
// be created again.
func TestACacheThatIsBehindOrdersNothing(t *testing.T) {
	g := NewWithT(t)
	scheme, err := manager.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	s := newState()
	ordered := s.fooMachine.DeepCopy()
	ordered.Spec.ProviderID = "foo:///zone-b/i1"
	r := &reconciler{live: clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(ordered).Build()}
	d, err := r.decide(t.Context(), fake.New(fake.Options{}), s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.action).To(Equal(keep))
	g.Expect(s.lost).To(BeTrue())
	g.Expect(s.fooMachine.Spec.ProviderID).To(Equal(ordered.Spec.ProviderID))
}
