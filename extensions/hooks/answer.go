// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

const (
	// firstLook is how many seconds Cluster API waits before it asks again about a job that
	// nobody has looked at. Most jobs are quick.
	firstLook = 1
	// nextLook is how many seconds it waits before it asks again about a job that waits for
	// something.
	nextLook = 5
)

// decision is the answer of a hook.
type decision struct {
	failure    bool
	message    string
	retryAfter int32
}

// refused is the answer if there is no job, for example because a setting is wrong. After a failure,
// Cluster API waits longer each time, and nothing wakes it. So a hook that can wait asks to be called
// again.
func refused(message string) decision {
	return decision{failure: true, message: message, retryAfter: nextLook}
}

// answer writes the answer to a call of a hook into the response.
func (h Hooks) answer(ctx context.Context, call call, response runtimehooksv1.ResponseObject) {
	decided := h.decide(ctx, call)
	if retry, ok := response.(runtimehooksv1.RetryResponseObject); ok {
		retry.SetRetryAfterSeconds(decided.retryAfter)
		decided.failure = decided.failure && decided.retryAfter == 0
	}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	if decided.failure {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
	}
	response.SetMessage(decided.message)
}

// decide returns the answer to a call of a hook.
func (h Hooks) decide(ctx context.Context, call call) decision {
	if problem := unusable(call.cluster); problem != "" {
		return decision{failure: true, message: problem}
	}
	if message, ok := Skips(call.cluster, call.hook); ok {
		return decision{message: message}
	}
	settings, err := ParseSettings(call.settings)
	if err != nil {
		return refused(err.Error())
	}
	// Cluster API calls AfterControlPlaneInitialized only once. Its job does nothing until the settings
	// ask for it.
	call.asked = settingsOf(h.tasks.wanted(call.hook, settings))
	if len(call.asked) == 0 && call.hook != AfterControlPlaneInitialized {
		return decision{}
	}
	known, err := h.request(ctx, call)
	if err != nil {
		return unasked(ctx, call, err)
	}
	return answered(known, unknownHooks(call.cluster))
}

// unusable returns what is missing in a request's Cluster. Without it, jobs cannot be told apart.
func unusable(cluster *clusterv1.Cluster) string {
	for _, field := range []struct{ name, value string }{
		{"metadata.name", cluster.Name}, {"metadata.namespace", cluster.Namespace}, {"metadata.uid", string(cluster.UID)},
	} {
		if field.value == "" {
			return fmt.Sprintf("the request's cluster has no %s", field.name)
		}
	}
	return ""
}

// unknownHooks returns the names in the Cluster's skip annotation that are not names of hooks.
func unknownHooks(cluster *clusterv1.Cluster) []string {
	names := slices.DeleteFunc(skippedHooks(cluster), func(name string) bool { return slices.Contains(Names(), name) })
	slices.Sort(names)
	return names
}

// answered turns the progress of a job into a decision.
func answered(known *extensionv1.HookJob, unknown []string) decision {
	if known.IsCompleted() {
		return decision{message: messageOf(known)}
	}
	result := decision{message: messageOf(known), retryAfter: nextLook}
	if result.message == "" {
		result.message = "the job of this hook has not started yet"
		result.retryAfter = firstLook
	}
	if len(unknown) > 0 {
		result.message += fmt.Sprintf(" (the annotation %s names %s; known hooks are %s)", SkipAnnotation, strings.Join(unknown, ", "), strings.Join(Names(), ", "))
	}
	return result
}

// unasked is the answer if the job could not be requested. In a terminating namespace no job can be
// recorded, but the Cluster must still be deletable.
func unasked(ctx context.Context, call call, err error) decision {
	ctrl.LoggerFrom(ctx).Error(err, "Failed to request the job of a hook", "Cluster", klog.KObj(call.cluster), "hook", call.hook)
	if call.hook == BeforeClusterDelete && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return decision{message: "nothing is done before the deletion: the namespace is being deleted"}
	}
	return refused(fmt.Sprintf("the job of the hook %s: %s", call.hook, Message(err)))
}
