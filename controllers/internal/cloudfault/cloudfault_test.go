// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudfault

import (
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		reason string
		result ctrl.Result
		retry  bool
	}{
		"none":         {nil, "", ctrl.Result{}, false},
		"throttled":    {&cloud.ThrottledError{RetryAfter: 7 * time.Second}, "Throttled", ctrl.Result{RequeueAfter: 7 * time.Second}, false},
		"no time":      {&cloud.ThrottledError{}, "Throttled", ctrl.Result{RequeueAfter: throttledRetryMin}, false},
		"invalid":      {&cloud.InvalidError{Field: "type"}, "Invalid", ctrl.Result{RequeueAfter: invalidRetry}, false},
		"quota":        {&cloud.QuotaExceededError{Resource: "cpus"}, "QuotaExceeded", ctrl.Result{RequeueAfter: quotaRetry}, false},
		"full":         {&cloud.CapacityError{Zone: "zone-a"}, "OutOfCapacity", ctrl.Result{RequeueAfter: quotaRetry}, false},
		"wrapped":      {fmt.Errorf("try: %w", &cloud.QuotaExceededError{}), "QuotaExceeded", ctrl.Result{RequeueAfter: quotaRetry}, false},
		"unavailable":  {&cloud.UnavailableError{}, "Unavailable", ctrl.Result{}, true},
		"unauthorized": {&cloud.UnauthorizedError{}, "Unauthorized", ctrl.Result{}, true},
		"transport":    {errors.New("connection refused"), "CloudError", ctrl.Result{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fault := Of(test.err)
			g.Expect(fault.Reason).To(Equal(test.reason))
			g.Expect(fault.IsZero()).To(Equal(test.err == nil))
			result, err := fault.Result()
			least := test.result.RequeueAfter
			g.Expect(result.RequeueAfter).To(BeNumerically(">=", least), "never earlier than requested")
			g.Expect(result.RequeueAfter).To(BeNumerically("<=", time.Duration(float64(least)*(1+jitter))))
			if test.retry {
				g.Expect(err).To(MatchError(test.err))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
		})
	}
}

func TestRateLimiterBacksOff(t *testing.T) {
	g := NewWithT(t)
	limiter := RateLimiter()
	var request reconcile.Request
	for _, least := range []time.Duration{backoffBase, 2 * backoffBase, 4 * backoffBase} {
		g.Expect(limiter.When(request)).To(And(BeNumerically(">=", least), BeNumerically("<=", least*12/10)))
	}
	for range 20 {
		limiter.When(request)
	}
	g.Expect(limiter.When(request)).To(And(BeNumerically(">=", backoffMax), BeNumerically("<=", backoffMax*12/10)))
	limiter.Forget(request)
	g.Expect(limiter.When(request)).To(BeNumerically("<=", backoffBase*12/10))
}

func TestOfProblem(t *testing.T) {
	g := NewWithT(t)
	g.Expect(OfProblem(nil).IsZero()).To(BeTrue())
	fault := OfProblem(&cloud.Problem{Reason: cloud.ReasonQuotaExceeded, Message: "no room"})
	g.Expect(fault.Reason).To(Equal("QuotaExceeded"))
	result, err := fault.Result()
	g.Expect(result).To(BeZero())
	g.Expect(err).NotTo(HaveOccurred())
}
