// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reason is the type of an error in one word, as it stands in a condition or in a response of the API.
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
	// ReasonUnknown is an error of none of this package's types.
	ReasonUnknown Reason = "CloudError"
)

// NotFoundError says that what was asked for is not there, or is not there any more.
type NotFoundError struct {
	// Kind of what is missing: instance, pool or load balancer.
	Kind string
	// Name or ID of it.
	Name string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %q not found", e.Kind, e.Name) }

// InvalidError says that a request can not succeed as it is, however often it is tried.
type InvalidError struct {
	// Field of the spec that is wrong, in dotted form.
	Field string
	// Value it had.
	Value string
	// Problem says what is wrong with it.
	Problem string
	// Allowed lists what would be right; empty where that can not be listed.
	Allowed []string
}

func (e *InvalidError) Error() string {
	text := fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Problem)
	if len(e.Allowed) > 0 {
		text += ", allowed: " + strings.Join(e.Allowed, ", ")
	}
	return text
}

// ConflictError says that something was changed since the caller read it. Read it again and decide again.
type ConflictError struct {
	// Kind of what was changed: pool.
	Kind string
	// Name of it.
	Name string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %q was changed since it was read", e.Kind, e.Name)
}

// QuotaExceededError says that the tenant's quota has no room; it may have later.
type QuotaExceededError struct {
	// Resource that ran out: instances, cpus, memoryBytes or loadBalancers.
	Resource string
	// Limit of the tenant, Used so far, and Requested by the call.
	Limit, Used, Requested int64
}

func (e *QuotaExceededError) Error() string {
	return fmt.Sprintf("quota for %s exceeded: limit %d, used %d, requested %d", e.Resource, e.Limit, e.Used, e.Requested)
}

// CapacityError says that the cloud itself has no room for an instance; it may have later.
type CapacityError struct {
	// Zone that is full; empty when the whole cloud is.
	Zone string
	// Message says more, where there is more to say.
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

// UnauthorizedError says that the cloud does not know the caller.
type UnauthorizedError struct {
	// Message says what to check. It never holds the token.
	Message string
}

func (e *UnauthorizedError) Error() string { return "unauthorized: " + e.Message }

// ThrottledError says that the caller asks too often.
type ThrottledError struct {
	// RetryAfter is how long to wait before the next call.
	RetryAfter time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("throttled: try again in %s", e.RetryAfter)
}

// UnavailableError says that the cloud can not answer now; it may later.
type UnavailableError struct {
	// Message says what does not work.
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

// ReasonFor returns the reason that belongs to the type of err.
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
