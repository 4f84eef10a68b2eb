// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// updater has add-ons applied again to a Cluster if their content or the Cluster changes: it
// requests another attempt of the job that installed them.
type updater struct {
	hooks.Clusters

	cached client.Reader
}

// SetupWithManager adds the controller that has changed add-ons applied.
func SetupWithManager(mgr ctrl.Manager, clusters hooks.Clusters) error {
	u := &updater{Clusters: clusters, cached: mgr.GetCache()}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("addons").
		For(&clusterv1.Cluster{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&extensionv1.Addon{}, handler.EnqueueRequestsFromMapFunc(u.ofAddon)).
		Watches(&extensionv1.HookJob{}, handler.EnqueueRequestsFromMapFunc(ofJob)).
		Complete(u)
	if err != nil {
		return fmt.Errorf("controller of Addons: %w", err)
	}
	return nil
}

// ofAddon returns the Clusters that an Addon may concern, including those that are gone.
func (u *updater) ofAddon(ctx context.Context, object client.Object) []reconcile.Request {
	var clusters clusterv1.ClusterList
	if err := u.cached.List(ctx, &clusters, client.InNamespace(object.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list Clusters")
	}
	var requests []reconcile.Request // The handler drops duplicates.
	for i := range clusters.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&clusters.Items[i])})
	}
	if addon, ok := object.(*extensionv1.Addon); ok {
		for _, entry := range addon.Status.Clusters {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: addon.Namespace, Name: entry.Name}})
		}
	}
	return requests
}

func ofJob(_ context.Context, object client.Object) []reconcile.Request {
	job, ok := object.(*extensionv1.HookJob)
	if !ok || job.Spec.Hook != hooks.AfterControlPlaneInitialized {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: job.Namespace, Name: job.Spec.ClusterName}}}
}

// Reconcile updates what the Addons of a namespace record about a Cluster, and requests what is
// outdated there.
func (u *updater) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.Cluster{}
	err := u.cached.Get(ctx, request.NamespacedName, cluster)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading the Cluster: %w", err)
	}
	var addons extensionv1.AddonList
	if err := u.cached.List(ctx, &addons, client.InNamespace(request.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing Addons: %w", err)
	}
	var wanted []*extensionv1.Addon
	if err == nil {
		wanted = selected(addons.Items, cluster)
	}
	for i := range addons.Items {
		if slices.Contains(wanted, &addons.Items[i]) || !mentions(&addons.Items[i], request.Name) {
			continue
		}
		if err := record(ctx, u.Client, &addons.Items[i], extensionv1.AddonCluster{Name: request.Name}); err != nil {
			return reconcile.Result{}, err
		}
	}
	wanted = slices.DeleteFunc(wanted, func(addon *extensionv1.Addon) bool { return u.current(ctx, addon, cluster) })
	if len(wanted) == 0 {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, u.update(ctx, cluster, wanted)
}

// current reports whether a Cluster has what an add-on contains now. The cache may not have the
// status yet that a job has just written.
func (u *updater) current(ctx context.Context, addon *extensionv1.Addon, cluster *clusterv1.Cluster) bool {
	if u.matches(ctx, addon, cluster) {
		return true
	}
	err := u.Client.Get(ctx, client.ObjectKeyFromObject(addon), addon)
	return err == nil && u.matches(ctx, addon, cluster)
}

func (u *updater) matches(ctx context.Context, addon *extensionv1.Addon, cluster *clusterv1.Cluster) bool {
	entry := entryOf(addon, cluster)
	if entry.State != extensionv1.AddonApplied && entry.State != extensionv1.AddonNoVariant {
		return false
	}
	now := read(ctx, u.Client, addon, cluster, entry.KubernetesVersion)
	return now.problem == "" && now.missing == (entry.State == extensionv1.AddonNoVariant) && now.hash == entry.Hash
}

// update requests another attempt of the job that installs add-ons, or records why there is none.
func (u *updater) update(ctx context.Context, cluster *clusterv1.Cluster, outdated []*extensionv1.Addon) error {
	var jobs extensionv1.HookJobList
	if err := u.cached.List(ctx, &jobs, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name}); err != nil {
		return fmt.Errorf("listing HookJobs: %w", err)
	}
	installing := slices.DeleteFunc(jobs.Items, func(job extensionv1.HookJob) bool {
		return job.Spec.Hook != hooks.AfterControlPlaneInitialized || !hooks.Owns(cluster, &job)
	})
	if reason := obstacle(cluster, installing); reason != "" {
		for _, addon := range outdated {
			entry := entryOf(addon, cluster)
			entry.State, entry.Message, entry.Hash = extensionv1.AddonWaiting, reason, ""
			if err := record(ctx, u.Client, addon, entry); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range installing {
		if err := u.again(ctx, &installing[i]); err != nil {
			return err
		}
	}
	return nil
}

// obstacle returns why a Cluster does not get outdated add-ons. It is empty if a job applies them.
func obstacle(cluster *clusterv1.Cluster, installing []extensionv1.HookJob) string {
	skipped, isSkipped := hooks.Skips(cluster, hooks.AfterControlPlaneInitialized)
	switch {
	case !cluster.DeletionTimestamp.IsZero():
		return "the Cluster is being deleted"
	case annotations.IsPaused(cluster, cluster):
		return "the Cluster is paused"
	case isSkipped:
		return skipped
	case len(installing) == 0:
		return "waiting for the hook AfterControlPlaneInitialized, which Cluster API calls once for a Cluster with a topology, " +
			"or for the next upgrade, while the setting addons of the ExtensionConfig is Enabled"
	default:
		return resting(installing)
	}
}

// resting returns why jobs do nothing, which is always the same for the same jobs. It is empty if one of
// them does something.
func resting(jobs []extensionv1.HookJob) string {
	var messages []string
	for i := range jobs {
		if conditions.GetReason(&jobs[i], extensionv1.HookJobCompletedCondition) != extensionv1.HookJobRestingReason {
			return ""
		}
		messages = append(messages, fmt.Sprintf("HookJob %s: %s", jobs[i].Name, conditions.GetMessage(&jobs[i], extensionv1.HookJobCompletedCondition)))
	}
	return slices.Min(messages)
}

// again requests another attempt of a completed job. A job that is not completed applies the
// add-ons as they are now.
func (u *updater) again(ctx context.Context, job *extensionv1.HookJob) error {
	if !job.IsCompleted() {
		return nil
	}
	changed := job.DeepCopy()
	changed.Spec.Attempt++
	changed.Spec.RequestTime = metav1.Now()
	err := u.Client.Patch(ctx, changed, client.MergeFromWithOptions(job, client.MergeFromWithOptimisticLock{}), hooks.FieldOwner)
	// After a conflict, the job is looked at again when the cache has the change.
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("requesting another attempt of the HookJob %s: %w", job.Name, err)
	}
	return nil
}
