// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudfault determines how a controller handles a cloud error: the reason and message that
// a user sees in a condition, which reasons are worth an event, and when to retry. All
// infrastructure controllers share it, so the same error looks and behaves the same everywhere.
//
// Limits: it maps errors of cloud. What a NotFoundError means depends on the request, so a
// controller checks for it before it calls this package.
package cloudfault

import (
	"maps"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

const (
	// invalidRetry is slow: only a change of the spec, which is an event, or of the catalog, which
	// is not, helps.
	invalidRetry = 5 * time.Minute
	// quotaRetry is how often to look for room in the quota or in the cloud, which no event
	// reports.
	quotaRetry = 15 * time.Second
	// throttledRetryMin keeps a ThrottledError that names no time from becoming a busy loop.
	throttledRetryMin = time.Second

	// jitter spreads retries by up to this fraction of the delay, and never makes them earlier than
	// the cloud asked for. Otherwise all objects that wait for the same thing would retry together.
	jitter = 0.2

	backoffBase = 100 * time.Millisecond
	backoffMax  = time.Minute
)

// Fault is how a controller handles a cloud error. The zero Fault is no error.
type Fault struct {
	// Reason is the type of the error, one of cloud's Reason constants; empty for no error.
	Reason string
	// Message is what was wrong, and what is allowed if that is known.
	Message string

	err   error
	retry time.Duration
}

// EventKinds returns a controller's own event kinds together with the reasons of cloud errors, which
// are all worth a warning.
func EventKinds(own report.Kinds) report.Kinds {
	kinds := maps.Clone(own)
	for _, reason := range []string{
		infrav1.CloudInvalidReason, infrav1.CloudQuotaExceededReason, infrav1.CloudOutOfCapacityReason,
		infrav1.CloudUnauthorizedReason, infrav1.CloudUnavailableReason, infrav1.CloudErrorReason,
	} {
		kinds[reason] = corev1.EventTypeWarning
	}
	return kinds
}

// Of returns the Fault of err; zero if err is nil.
func Of(err error) Fault {
	if err == nil {
		return Fault{}
	}
	fault := Fault{Reason: string(cloud.ReasonFor(err)), Message: err.Error()}
	after, throttled := cloud.RetryAfter(err)
	switch {
	case throttled:
		fault.retry = max(after, throttledRetryMin)
	case cloud.IsInvalid(err):
		fault.retry = invalidRetry
	case cloud.IsQuotaExceeded(err), cloud.IsOutOfCapacity(err):
		fault.retry = quotaRetry
	default:
		fault.err = err
	}
	return fault
}

// OfProblem returns the Fault of an error that a pool of the cloud met on its own. The cloud
// retries by itself and sends an event of the change, so such a Fault asks for no retry.
func OfProblem(problem *cloud.Problem) Fault {
	if problem == nil {
		return Fault{}
	}
	return Fault{Reason: string(problem.Reason), Message: problem.Message}
}

// IsZero reports whether there was no error.
func (f Fault) IsZero() bool { return f.Reason == "" }

// Result returns what Reconcile should return: a requeue time for errors that need one, and the
// error itself for those that are left to the backoff of the queue.
func (f Fault) Result() (ctrl.Result, error) {
	if f.retry == 0 {
		return ctrl.Result{}, f.err
	}
	return ctrl.Result{RequeueAfter: wait.Jitter(f.retry, jitter)}, f.err
}

// RateLimiter returns the backoff of a controller that talks to the cloud: from 100 ms to one
// minute, with jitter, for an object that keeps failing, and at most 50 retries a second (bursts of
// 500) over all objects.
func RateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return jittered{workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffBase, backoffMax),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(rate.Limit(50), 500)},
	)}
}

// jittered adds jitter to the delays of another rate limiter.
type jittered struct {
	workqueue.TypedRateLimiter[reconcile.Request]
}

// When returns how long the request has to wait.
func (j jittered) When(request reconcile.Request) time.Duration {
	return wait.Jitter(j.TypedRateLimiter.When(request), jitter)
}
