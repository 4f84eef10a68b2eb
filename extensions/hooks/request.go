// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// FieldOwner is the field manager of HookJobs, and of Jobs and their Secrets in workload clusters.
const FieldOwner = client.FieldOwner("foo-runtime-extension")

// validity is how long the result of a job counts. Cluster API calls a hook again after its work
// was completed if something else held the Cluster. By then, a snapshot or a check may be outdated.
const validity = time.Hour

// newJob returns the first attempt of the job that a call requests.
func newJob(call call, config string, now time.Time) *extensionv1.HookJob {
	job := &extensionv1.HookJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: call.cluster.Namespace,
			Labels:    map[string]string{clusterv1.ClusterNameLabel: call.cluster.Name},
			// Not a controller reference: a change of a job need not trigger a
			// reconcile of the Cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1.GroupVersion.String(), Kind: clusterv1.ClusterKind, Name: call.cluster.Name, UID: call.cluster.UID,
			}},
		},
		Spec: extensionv1.HookJobSpec{
			ClusterName: call.cluster.Name, ClusterUID: call.cluster.UID, ExtensionConfig: config,
			Hook: call.hook, FromVersion: call.from, ToVersion: call.to, Attempt: 1, RequestTime: metav1.NewTime(now),
		},
	}
	for _, step := range call.steps {
		job.Spec.Plan = append(job.Spec.Plan, step.Version)
	}
	identity := []string{string(call.cluster.UID), config, call.hook, call.from, call.to}
	sum := sha256.Sum256([]byte(strings.Join(identity, "\n")))
	job.Name = fmt.Sprintf("%s-%s-%s", call.cluster.Name, strings.ToLower(call.hook), hex.EncodeToString(sum[:5]))
	return job
}

// outdated reports whether the result of a completed job no longer counts, since it is old, or since the
// settings ask for another task now. What was done before a deletion does not get old, as it is not repeated.
func outdated(job *extensionv1.HookJob, asked []string, now time.Time) bool {
	return lacks(job, asked...) ||
		job.IsCompleted() && job.Spec.Hook != BeforeClusterDelete && now.Sub(job.Status.CompletionTime.Time) > validity
}

// lacks reports whether a completed job was not asked for one of these tasks. A job that was skipped records
// no tasks and lacks none: it has ended for good.
func lacks(job *extensionv1.HookJob, asked ...string) bool {
	return job.IsCompleted() && len(job.Status.Tasks) > 0 &&
		slices.ContainsFunc(asked, func(setting string) bool { return !slices.Contains(job.Status.Tasks, setting) })
}

// messageOf returns what a job waits for or how it ended. It is empty if nobody has looked at the
// current attempt yet.
func messageOf(job *extensionv1.HookJob) string {
	if job.Status.Attempt != job.Spec.Attempt {
		return ""
	}
	return conditions.GetMessage(job, extensionv1.HookJobCompletedCondition)
}

// request returns the job that a call requests. It creates a new job, begins a new attempt of an
// outdated one, and updates the plan. It fails if no ExtensionConfig has the settings of the call,
// because anybody may be the caller.
func (h Hooks) request(ctx context.Context, call call) (*extensionv1.HookJob, error) {
	configs, err := configsOf(ctx, h.cached, call)
	if err != nil {
		return nil, err
	}
	// Cluster API calls AfterControlPlaneInitialized only once, and each of the ExtensionConfigs may
	// ask for its work later.
	if call.hook == AfterControlPlaneInitialized {
		for _, config := range configs[1:] {
			if _, err := h.requestFor(ctx, call, config); err != nil {
				return nil, err
			}
		}
	}
	return h.requestFor(ctx, call, configs[0])
}

func (h Hooks) requestFor(ctx context.Context, call call, config string) (*extensionv1.HookJob, error) {
	requested, known := newJob(call, config, h.clock.Now()), &extensionv1.HookJob{}
	err := h.cached.Get(ctx, client.ObjectKeyFromObject(requested), known)
	if apierrors.IsNotFound(err) {
		// Another replica, or an earlier call that the cache has not seen yet, may have
		// created it first.
		if err := h.client.Create(ctx, requested.DeepCopy(), FieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("creating the HookJob: %w", err)
		}
		return requested, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the HookJob: %w", err)
	}
	return h.update(ctx, requested, known, call.asked)
}

// update updates what may change in a known job.
func (h Hooks) update(ctx context.Context, requested, known *extensionv1.HookJob, asked []string) (*extensionv1.HookJob, error) {
	changed := known.DeepCopy()
	changed.Spec.Plan = requested.Spec.Plan
	if outdated(known, asked, h.clock.Now()) {
		changed.Spec.Attempt++
		changed.Spec.RequestTime = requested.Spec.RequestTime
	}
	if equality.Semantic.DeepEqual(changed.Spec, known.Spec) {
		return known, nil
	}
	result := changed.DeepCopy()
	err := h.client.Patch(ctx, changed, client.MergeFromWithOptions(known, client.MergeFromWithOptimisticLock{}), FieldOwner)
	// After a conflict, the next call sees what somebody else has changed.
	if err != nil && !apierrors.IsConflict(err) {
		return nil, fmt.Errorf("updating the HookJob: %w", err)
	}
	return result, nil
}

// errUnregistered is the error for a call with settings that no ExtensionConfig has, so nobody with
// permission to register extensions chose them.
var errUnregistered = errors.New("no ExtensionConfig has the settings of this call; if they were just changed, the call will be repeated with the new ones")

// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// registeredIn returns the ExtensionConfigs whose hooks Cluster API calls. They are in the order of their
// names, so that a job always waits for the same one first.
func registeredIn(ctx context.Context, from client.Reader) ([]runtimev1.ExtensionConfig, error) {
	var configs runtimev1.ExtensionConfigList
	if err := from.List(ctx, &configs); err != nil {
		return nil, fmt.Errorf("listing ExtensionConfigs: %w", err)
	}
	slices.SortFunc(configs.Items, func(a, b runtimev1.ExtensionConfig) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(configs.Items, func(config runtimev1.ExtensionConfig) bool { return isLeaving(&config) }), nil
}

// isLeaving reports whether an ExtensionConfig is being deleted. Cluster API no longer calls its hooks, even if
// a finalizer keeps it.
func isLeaving(config *runtimev1.ExtensionConfig) bool { return !config.DeletionTimestamp.IsZero() }

// configsOf returns the names of the ExtensionConfigs that select the namespace of a call and have its
// settings, in their order, since the call does not name its own. There is at least one. Several of them share
// the jobs of the first one.
func configsOf(ctx context.Context, from client.Reader, call call) ([]string, error) {
	configs, err := registeredIn(ctx, from)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range configs {
		config := &configs[i]
		// The cache may not have the handlers of a new ExtensionConfig yet.
		if !maps.Equal(config.Spec.Settings, call.settings) || len(config.Status.Handlers) > 0 && !handles(config, call.hook) {
			continue
		}
		selected, err := selects(ctx, from, config.Spec.NamespaceSelector, call.cluster.Namespace)
		if err != nil {
			return nil, fmt.Errorf("namespaceSelector of the ExtensionConfig %s: %w", config.Name, err)
		}
		if selected {
			names = append(names, config.Name)
		}
	}
	if len(names) == 0 {
		return nil, errUnregistered
	}
	return names, nil
}

// handles reports whether Cluster API has discovered a handler of an ExtensionConfig for a hook.
func handles(config *runtimev1.ExtensionConfig, hook string) bool {
	return slices.ContainsFunc(config.Status.Handlers, func(handler runtimev1.ExtensionHandler) bool { return handler.RequestHook.Hook == hook })
}

// selects reports whether the selector of an ExtensionConfig selects a namespace. To Cluster API, no
// selector means every namespace.
func selects(ctx context.Context, from client.Reader, given *metav1.LabelSelector, namespace string) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(given)
	if given == nil || err != nil || selector.Empty() {
		return err == nil, err
	}
	object := &corev1.Namespace{}
	if err := from.Get(ctx, client.ObjectKey{Name: namespace}, object); err != nil {
		return false, err
	}
	return selector.Matches(labels.Set(object.Labels)), nil
}
