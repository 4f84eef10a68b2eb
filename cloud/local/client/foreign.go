// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// foreignError returns the typed error for an answer that did not come from the cloud itself, for
// example from a proxy. It never returns a NotFoundError: only the cloud itself can report that an
// object is gone, and objects that are gone get deleted.
func foreignError(response *http.Response, message string) error {
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return &cloud.ThrottledError{RetryAfter: retryAfter(response.Header, time.Now())}
	case response.StatusCode == http.StatusUnauthorized:
		return &cloud.UnauthorizedError{Message: message}
	case response.StatusCode >= http.StatusInternalServerError:
		return &cloud.UnavailableError{Message: message}
	default:
		return errors.New(message)
	}
}

// retryAfter reads a Retry-After header in either form, whole seconds or a date. It returns zero,
// which leaves the pace to the caller, if the header is missing, invalid or in the past.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}
