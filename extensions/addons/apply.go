// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// addonLabel marks objects in workload clusters. Its value is the name of the add-on.
	addonLabel = "foo.cluster.x-k8s.io/addon"
	// fieldOwner is the field manager for objects in workload clusters.
	fieldOwner = client.FieldOwner("foo-addons")
	// maxReason is how many bytes of a reason are shown.
	maxReason = 300
)

// state is the progress of an object.
type state string

const (
	// ready is an object that is as in its manifest, and that does what it is for.
	ready state = "ready"
	// unready is an object that is as in its manifest, but not ready.
	unready state = "not ready"
	// unknownKind is an object whose kind the API server does not know or does not serve yet.
	unknownKind state = "waiting"
	// deferred is an object whose kind is expected from the next version of the API server.
	deferred state = "deferred until after the step"
	// refused is an object that the API server rejected.
	refused state = "refused"
	// unanswered is an object for which the API server did not answer.
	unanswered state = "no answer"
)

// result is the progress of an object, and the reason.
type result struct {
	object *unstructured.Unstructured
	// uid is the UID of the object in the cluster, if it was applied.
	uid    types.UID
	state  state
	reason string
}

// applyOne applies an object as in its manifest and returns how it is, with the error if it is not
// applied. Applying it again changes nothing.
func applyOne(ctx context.Context, to client.Client, addon *extensionv1.Addon, wanted *unstructured.Unstructured) (result, error) {
	object := wanted.DeepCopy()
	made := result{object: wanted}
	err := applyObject(ctx, to, addon.Name, object)
	if err == nil {
		made.uid = object.GetUID()
		made.state, made.reason = readiness(object)
		return made, nil
	}
	hidden := addon.Spec.SecretName != "" || wanted.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Secret"}
	made.state, made.reason = explain(wanted, hidden, err)
	log := ctrl.LoggerFrom(ctx).WithValues("addon", addon.Name, "object", title(wanted), "problem", hooks.Cause(err))
	if !hidden {
		log = log.WithValues("answer", err.Error())
	}
	log.Info("The workload API server did not accept an object of an add-on")
	return made, err
}

// applyObject applies an object, and replaces it with the API server's version of it.
func applyObject(ctx context.Context, to client.Client, addon string, object *unstructured.Unstructured) error {
	namespaced, err := to.IsObjectNamespaced(object)
	if err != nil {
		return fmt.Errorf("finding the kind %s: %w", object.GetKind(), err)
	}
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	// Labels that are not a map stay as they are, and the API server refuses them.
	_ = unstructured.SetNestedField(object.Object, addon, "metadata", "labels", addonLabel)
	return to.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
}

// readiness returns whether an object is ready, by the rules that kubectl wait and Helm use.
func readiness(object *unstructured.Unstructured) (state, string) {
	computed, err := status.Compute(object)
	switch {
	case err != nil:
		return unready, hooks.Line(err.Error(), maxReason)
	case computed.Status == status.CurrentStatus:
		return ready, ""
	default:
		return unready, hooks.Line(computed.Status.String()+": "+computed.Message, maxReason)
	}
}

// explain turns an error into a state and a reason that is always the same and reveals no secret.
func explain(object *unstructured.Unstructured, hidden bool, err error) (state, string) {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return unknownKind, fmt.Sprintf("the cluster does not know the kind in %s yet", object.GetAPIVersion())
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return unanswered, hooks.Cause(err)
	}
	status := answer.Status()
	reason, known := refusal(status)
	switch {
	case !known:
		return refused, hooks.Cause(err)
	case hidden:
		return refused, withDetail(reason, fields(status))
	default:
		return refused, withDetail(reason, status.Message)
	}
}

// refusal returns the API server's reason, and reports whether it is about the object itself. Other
// errors, such as an unreachable webhook, may have a different text each time.
func refusal(status metav1.Status) (string, bool) {
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
	return text + ": " + hooks.Line(detail, maxReason)
}
