// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// foreignError returns the typed error of an answer that is not the cloud's own, as a proxy before it gives. It is never a
// NotFoundError: only the cloud itself can say that something of it is gone, and what is gone gets deleted.
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

// retryAfter reads a Retry-After header in either of its forms, whole seconds or a date. It is zero, which leaves the
// pace to the caller, where there is none, where it is not valid and where it lies in the past.
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
