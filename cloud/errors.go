// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reason is the type of an error in one word, as used in conditions and API responses.
type Reason string

const (
	// ReasonNotFound goes with NotFoundError.
	ReasonNotFound Reason = "NotFound"
	// ReasonInvalid goes with InvalidError.
	ReasonInvalid Reason = "Invalid"
	// ReasonConflict goes with ConflictError.
	ReasonConflict Reason = "Conflict"
	// ReasonQuotaExceeded goes with QuotaExceededError.
	ReasonQuotaExceeded Reason = "QuotaExceeded"
	// ReasonOutOfCapacity goes with CapacityError.
	ReasonOutOfCapacity Reason = "OutOfCapacity"
	// ReasonUnauthorized goes with UnauthorizedError.
	ReasonUnauthorized Reason = "Unauthorized"
	// ReasonThrottled goes with ThrottledError.
	ReasonThrottled Reason = "Throttled"
	// ReasonUnavailable goes with UnavailableError.
	ReasonUnavailable Reason = "Unavailable"
	// ReasonUnknown goes with any error that has none of this package's types.
	ReasonUnknown Reason = "CloudError"
)

// Kinds of objects, as errors name them.
const (
	KindInstance     = "instance"
	KindPool         = "pool"
	KindLoadBalancer = "load balancer"
)

// NotFoundError means that the requested object does not exist, or no longer exists.
type NotFoundError struct {
	// Kind of the missing object, one of the Kind constants.
	Kind string
	// Name or ID of the object.
	Name string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %q not found", e.Kind, e.Name) }

// InvalidError means that a request cannot succeed as it is, however often it is retried.
type InvalidError struct {
	// Field of the spec that is wrong, in dotted form.
	Field string
	// Value of the field.
	Value string
	// Problem describes what is wrong with the value.
	Problem string
	// Allowed lists the valid values; empty if they cannot be listed.
	Allowed []string
}

func (e *InvalidError) Error() string {
	text := fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Problem)
	if len(e.Allowed) > 0 {
		text += ", allowed: " + strings.Join(e.Allowed, ", ")
	}
	return text
}

// ConflictError means that an object has changed since the caller read it. Read it again and decide
// again.
type ConflictError struct {
	// Kind of the changed object: KindPool.
	Kind string
	// Name of the object.
	Name string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %q was changed since it was read", e.Kind, e.Name)
}

// QuotaExceededError means that the tenant's quota has no room for the request. A later retry may
// succeed.
type QuotaExceededError struct {
	// Resource that ran out: instances, cpus, memoryBytes or loadBalancers.
	Resource string
	// Limit of the tenant, Used so far, and Requested by the call.
	Limit, Used, Requested int64
}

func (e *QuotaExceededError) Error() string {
	return fmt.Sprintf("quota for %s exceeded: limit %d, used %d, requested %d", e.Resource, e.Limit, e.Used, e.Requested)
}

// CapacityError means that the cloud itself has no room for an instance. A later retry may succeed.
type CapacityError struct {
	// Zone that is full; empty if the whole cloud is full.
	Zone string
	// Message gives details, if there are any.
	Message string
}

func (e *CapacityError) Error() string {
	text := "the cloud is out of capacity"
	if e.Zone != "" {
		text = "zone " + e.Zone + " is out of capacity"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// UnauthorizedError means that the cloud does not know the caller or does not permit the call.
type UnauthorizedError struct {
	// Message tells the user what to check. It never contains the token.
	Message string
	// Err is why the caller has no token, for errors.Is; nil if the cloud refused it.
	Err error
}

func (e *UnauthorizedError) Error() string { return "unauthorized: " + e.Message }

// Unwrap returns why the caller has no token.
func (e *UnauthorizedError) Unwrap() error { return e.Err }

// ThrottledError means that the caller sends requests too often.
type ThrottledError struct {
	// RetryAfter is how long to wait before the next call.
	RetryAfter time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("throttled: try again in %s", e.RetryAfter)
}

// UnavailableError means that the cloud cannot answer now. A later retry may succeed.
type UnavailableError struct {
	// Message describes what does not work.
	Message string
}

func (e *UnavailableError) Error() string { return "cloud unavailable: " + e.Message }

// IsNotFound reports whether err is, or wraps, a NotFoundError.
func IsNotFound(err error) bool { return is[*NotFoundError](err) }

// IsInvalid reports whether err is, or wraps, an InvalidError.
func IsInvalid(err error) bool { return is[*InvalidError](err) }

// IsConflict reports whether err is, or wraps, a ConflictError.
func IsConflict(err error) bool { return is[*ConflictError](err) }

// IsQuotaExceeded reports whether err is, or wraps, a QuotaExceededError.
func IsQuotaExceeded(err error) bool { return is[*QuotaExceededError](err) }

// IsOutOfCapacity reports whether err is, or wraps, a CapacityError.
func IsOutOfCapacity(err error) bool { return is[*CapacityError](err) }

// IsUnauthorized reports whether err is, or wraps, an UnauthorizedError.
func IsUnauthorized(err error) bool { return is[*UnauthorizedError](err) }

// IsUnavailable reports whether err is, or wraps, an UnavailableError.
func IsUnavailable(err error) bool { return is[*UnavailableError](err) }

// RetryAfter returns how long a ThrottledError asks to wait, and whether err is or wraps one.
func RetryAfter(err error) (time.Duration, bool) {
	var throttled *ThrottledError
	if errors.As(err, &throttled) {
		return throttled.RetryAfter, true
	}
	return 0, false
}

// ReasonFor returns the reason that corresponds to the type of err.
func ReasonFor(err error) Reason {
	_, throttled := RetryAfter(err)
	switch {
	case IsNotFound(err):
		return ReasonNotFound
	case IsInvalid(err):
		return ReasonInvalid
	case IsConflict(err):
		return ReasonConflict
	case IsQuotaExceeded(err):
		return ReasonQuotaExceeded
	case IsOutOfCapacity(err):
		return ReasonOutOfCapacity
	case IsUnauthorized(err):
		return ReasonUnauthorized
	case throttled:
		return ReasonThrottled
	case IsUnavailable(err):
		return ReasonUnavailable
	default:
		return ReasonUnknown
	}
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}
