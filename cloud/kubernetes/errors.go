// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// translate returns the typed error for an answer of the API server. It never returns a
// NotFoundError: see missing.
func (c *Cloud) translate(err error) error {
	var typed apierrors.APIStatus
	switch {
	case err == nil, errors.Is(err, context.Canceled), cloud.ReasonFor(err) != cloud.ReasonUnknown:
		return err
	case !errors.As(err, &typed):
		return &cloud.UnavailableError{Message: fmt.Sprintf("endpoint %s: %v", c.endpoint, transportProblem(err))}
	}
	return c.translateStatus(err, typed.Status())
}

func (c *Cloud) translateStatus(err error, status metav1.Status) error {
	switch {
	case apierrors.IsTooManyRequests(err):
		seconds, _ := apierrors.SuggestsClientDelay(err)
		return &cloud.ThrottledError{RetryAfter: time.Duration(seconds) * time.Second}
	case foreign(err):
		return &cloud.UnavailableError{Message: fmt.Sprintf("endpoint %s answers, but not as a Kubernetes API server: %s", c.endpoint, status.Message)}
	case apierrors.IsForbidden(err):
		if quota := quotaError(status.Message); quota != nil {
			return quota
		}
		return &cloud.UnauthorizedError{Message: status.Message}
	case apierrors.IsUnauthorized(err):
		return &cloud.UnauthorizedError{Message: fmt.Sprintf("the API server at %s does not accept the token: %s", c.endpoint, status.Message)}
	case apierrors.IsNotFound(err):
		return &cloud.UnauthorizedError{Message: fmt.Sprintf("namespace %s is not usable: %s", c.namespace, status.Message)}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return &cloud.InvalidError{Field: "namespace", Value: c.namespace, Problem: "the API server refuses the object: " + status.Message}
	default:
		return &cloud.UnavailableError{Message: status.Message}
	}
}

// isGone reports whether the API server itself answers that it does not have an object.
func isGone(err error) bool { return apierrors.IsNotFound(err) && !foreign(err) }

// foreign reports whether an answer did not come from an API server, for example from a proxy.
func foreign(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.ReasonForError(err) != metav1.StatusReasonUnauthorized &&
		statusCode(err) != http.StatusTooManyRequests
}

func statusCode(err error) int32 {
	var typed apierrors.APIStatus
	if errors.As(err, &typed) {
		return typed.Status().Code
	}
	return 0
}

// transportProblem returns what is wrong without the request's address, which the caller names.
func transportProblem(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err
	}
	return err
}

// refusedByQuota matches how the API server refuses an object for which a ResourceQuota has no
// room. Each of the three lists names the same resources.
var refusedByQuota = regexp.MustCompile(`exceeded quota: [^,]+, requested: ([^= ]+)=([^, ]+).*, used: ([^= ]+)=([^, ]+).*, limited: ([^= ]+)=([^, ]+)`)

// quotaError returns the error for a refusal by a ResourceQuota, or nil if the message is about
// something else.
func quotaError(message string) error {
	found := refusedByQuota.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	amount := func(text string) int64 {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return 0
		}
		return quantity.Value()
	}
	return &cloud.QuotaExceededError{
		Resource: resourceName(found[1]), Requested: amount(found[2]), Used: amount(found[4]), Limit: amount(found[6]),
	}
}

// resourceName returns the cloud's name of a resource that a ResourceQuota limits.
func resourceName(limited string) string {
	switch plain := strings.TrimPrefix(strings.TrimPrefix(limited, "requests."), "limits."); {
	case limited == "pods" || limited == "count/pods":
		return "instances"
	case plain == "cpu":
		return "cpus"
	case plain == "memory":
		return "memoryBytes"
	case strings.HasPrefix(limited, "services") || limited == "count/services":
		return "loadBalancers"
	}
	return limited
}
