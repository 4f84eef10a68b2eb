// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// maxReason is how many bytes of an API server's message are shown.
const maxReason = 300

// state is the progress of an object.
type state int

const (
	// untried is an object that was not tried, because the API server did not answer for an
	// earlier one.
	untried state = iota
	// applied is an object that the API server has as in its manifest.
	applied
	// unknownKind is an object whose kind the API server does not know or does not serve yet.
	unknownKind
	// refused is an object that the API server rejected.
	refused
	// unanswered is the object for which the API server did not answer.
	unanswered
)

// result is the progress of an object, and the reason.
type result struct {
	object
	state  state
	reason string
}

// apply applies the objects in order. It stops early if the API server does not answer.
func apply(ctx context.Context, to client.Client, objects []object) []result {
	results := make([]result, len(objects))
	for i, one := range objects {
		results[i].object = one
	}
	for i := range results {
		one := &results[i]
		one.state, one.reason = explain(ctx, one.object, applyOne(ctx, to, one.object))
		if one.state == unanswered {
			break
		}
	}
	return results
}

// applyOne applies an object as in its manifest. Applying it again changes nothing.
func applyOne(ctx context.Context, to client.Client, one object) error {
	wanted := one.DeepCopy()
	namespaced, err := to.IsObjectNamespaced(wanted)
	if err != nil {
		return fmt.Errorf("finding the kind %s: %w", wanted.GetKind(), err)
	}
	if namespaced && wanted.GetNamespace() == "" {
		wanted.SetNamespace(metav1.NamespaceDefault)
	}
	// Labels that are not a map stay as they are, and the API server refuses them.
	_ = unstructured.SetNestedField(wanted.Object, one.from.addon, "metadata", "labels", FromAddonLabel)
	return to.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), FieldOwner, client.ForceOwnership)
}

// explain turns an error into a state and a reason that is always the same and reveals no secret.
func explain(ctx context.Context, one object, err error) (state, string) {
	if err == nil {
		return applied, ""
	}
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return unknownKind, fmt.Sprintf("the cluster does not know the kind in %s yet", one.GetAPIVersion())
	}
	status, answered := statusOf(err)
	if !answered {
		logged(ctx, one, err)
		return unanswered, hooks.Cause(err)
	}
	reason, judged := verdict(status)
	switch {
	case !judged:
		logged(ctx, one, err)
		return refused, hooks.Cause(err)
	case one.secret():
		return refused, withDetail(reason, fields(status))
	default:
		return refused, withDetail(reason, status.Message)
	}
}

// logged logs the details that are not shown anywhere else.
func logged(ctx context.Context, one object, err error) {
	log := ctrl.LoggerFrom(ctx).WithValues("source", one.from.String(), "key", one.key)
	if one.secret() {
		log.Info("The workload API server did not accept an object of an add-on", "problem", hooks.Cause(err))
		return
	}
	log.Error(err, "The workload API server did not accept an object of an add-on")
}

func statusOf(err error) (metav1.Status, bool) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return metav1.Status{}, false
	}
	return answer.Status(), true
}

// verdict returns the API server's reason, and reports whether the server judged the object itself.
// Its other errors, such as an unreachable webhook, may have a different text each time.
func verdict(status metav1.Status) (string, bool) {
	// An object that does not match the schema of its kind is refused without a reason, but
	// always with these words.
	if status.Reason == metav1.StatusReasonUnknown && strings.HasPrefix(status.Message, "failed to ") {
		return "does not match the schema of its kind", true
	}
	return string(status.Reason), slices.Contains([]metav1.StatusReason{
		metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonForbidden, metav1.StatusReasonNotFound,
		metav1.StatusReasonConflict, metav1.StatusReasonAlreadyExists, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonNotAcceptable, metav1.StatusReasonRequestEntityTooLarge, metav1.StatusReasonUnsupportedMediaType,
	}, status.Reason)
}

// fields returns the fields that an answer is about. The rest of the answer may quote their values.
func fields(status metav1.Status) string {
	if status.Details == nil {
		return ""
	}
	var list []string
	for _, one := range status.Details.Causes {
		if one.Field != "" {
			list = append(list, one.Field)
		}
	}
	return strings.Join(list, ", ")
}

func withDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + oneLine(detail)
}

// oneLine returns a text as one line that is short enough for a condition.
func oneLine(text string) string { return shortened(strings.Join(strings.Fields(text), " ")) }

func shortened(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "..."
}
