// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Error is the wire format of an error. The reason determines which fields are set.
type Error struct {
	// Reason is the type of the error. It alone determines the type that the client returns.
	Reason cloud.Reason `json:"reason"`
	// Message is the full error text.
	Message string `json:"message"`
	// Kind and Name of the missing object, for NotFound, or of the changed object, for Conflict.
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	// Field, Value, Problem and Allowed, for Invalid.
	Field   string   `json:"field,omitempty"`
	Value   string   `json:"value,omitempty"`
	Problem string   `json:"problem,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	// Resource, Limit, Used and Requested, for QuotaExceeded.
	Resource  string `json:"resource,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
	Used      int64  `json:"used,omitempty"`
	Requested int64  `json:"requested,omitempty"`
	// Zone that is full, for OutOfCapacity; Problem gives details.
	Zone string `json:"zone,omitempty"`
	// RetryAfterSeconds, for Throttled.
	RetryAfterSeconds float64 `json:"retryAfterSeconds,omitempty"`
}

// NewError converts an error to its wire format.
func NewError(err error) Error {
	e := Error{Reason: cloud.ReasonFor(err), Message: err.Error()}
	var (
		notFound     *cloud.NotFoundError
		invalid      *cloud.InvalidError
		conflict     *cloud.ConflictError
		quota        *cloud.QuotaExceededError
		capacity     *cloud.CapacityError
		unauthorized *cloud.UnauthorizedError
		unavailable  *cloud.UnavailableError
	)
	switch {
	case errors.As(err, &notFound):
		e.Kind, e.Name = notFound.Kind, notFound.Name
	case errors.As(err, &conflict):
		e.Kind, e.Name = conflict.Kind, conflict.Name
	case errors.As(err, &invalid):
		e.Field, e.Value, e.Problem, e.Allowed = invalid.Field, invalid.Value, invalid.Problem, invalid.Allowed
	case errors.As(err, &quota):
		e.Resource, e.Limit, e.Used, e.Requested = quota.Resource, quota.Limit, quota.Used, quota.Requested
	case errors.As(err, &capacity):
		e.Zone, e.Problem = capacity.Zone, capacity.Message
	case errors.As(err, &unauthorized):
		e.Message = unauthorized.Message
	case errors.As(err, &unavailable):
		e.Message = unavailable.Message
	}
	if after, ok := cloud.RetryAfter(err); ok {
		e.RetryAfterSeconds = after.Seconds()
	}
	return e
}

// Typed returns the corresponding error of package cloud.
func (e Error) Typed() error {
	switch e.Reason {
	case cloud.ReasonNotFound:
		return &cloud.NotFoundError{Kind: e.Kind, Name: e.Name}
	case cloud.ReasonInvalid:
		return &cloud.InvalidError{Field: e.Field, Value: e.Value, Problem: e.Problem, Allowed: e.Allowed}
	case cloud.ReasonConflict:
		return &cloud.ConflictError{Kind: e.Kind, Name: e.Name}
	case cloud.ReasonQuotaExceeded:
		return &cloud.QuotaExceededError{Resource: e.Resource, Limit: e.Limit, Used: e.Used, Requested: e.Requested}
	case cloud.ReasonOutOfCapacity:
		return &cloud.CapacityError{Zone: e.Zone, Message: e.Problem}
	case cloud.ReasonUnauthorized:
		return &cloud.UnauthorizedError{Message: e.Message}
	case cloud.ReasonThrottled:
		return &cloud.ThrottledError{RetryAfter: time.Duration(math.Round(e.RetryAfterSeconds * float64(time.Second)))}
	case cloud.ReasonUnavailable:
		return &cloud.UnavailableError{Message: e.Message}
	case cloud.ReasonUnknown:
	}
	return errors.New(e.Message)
}

// Status returns the HTTP status for the reason.
func (e Error) Status() int {
	switch e.Reason {
	case cloud.ReasonNotFound:
		return http.StatusNotFound
	case cloud.ReasonInvalid:
		return http.StatusUnprocessableEntity
	case cloud.ReasonConflict:
		return http.StatusConflict
	case cloud.ReasonQuotaExceeded:
		return http.StatusForbidden
	case cloud.ReasonUnauthorized:
		return http.StatusUnauthorized
	case cloud.ReasonThrottled:
		return http.StatusTooManyRequests
	case cloud.ReasonUnavailable, cloud.ReasonOutOfCapacity:
		return http.StatusServiceUnavailable
	case cloud.ReasonUnknown:
	}
	return http.StatusInternalServerError
}
