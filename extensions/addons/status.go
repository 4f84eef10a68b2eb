// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// named is how many waiting Clusters the condition of an Addon names.
const named = 3

// entryOf returns the progress of an add-on in a Cluster, as recorded in its status. It has only the
// names of the Cluster if nothing is recorded.
func entryOf(addon *extensionv1.Addon, cluster *clusterv1.Cluster) extensionv1.AddonCluster {
	for _, entry := range addon.Status.Clusters {
		if entry.Name == cluster.Name && entry.UID == cluster.UID {
			return entry
		}
	}
	return extensionv1.AddonCluster{Name: cluster.Name, UID: cluster.UID}
}

// mentions reports whether the status of an add-on has a Cluster of this name.
func mentions(addon *extensionv1.Addon, cluster string) bool {
	return slices.ContainsFunc(addon.Status.Clusters, func(entry extensionv1.AddonCluster) bool { return entry.Name == cluster })
}

// record records the progress of an add-on in a Cluster in its status. It removes the entry of the
// Cluster if the state is empty, and writes nothing if nothing changed.
func record(ctx context.Context, to client.Client, addon *extensionv1.Addon, entry extensionv1.AddonCluster) error {
	known := addon.DeepCopy()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		changed := known.DeepCopy()
		set(&changed.Status, entry)
		summarize(changed)
		if equality.Semantic.DeepEqual(changed.Status, known.Status) {
			return nil
		}
		err := to.Status().Patch(ctx, changed, client.MergeFromWithOptions(known, client.MergeFromWithOptimisticLock{}), fieldOwner)
		if apierrors.IsConflict(err) {
			// The jobs of other Clusters write it too.
			if err := to.Get(ctx, client.ObjectKeyFromObject(addon), known); err != nil {
				return err
			}
		}
		return err
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording the status of the Addon %s: %w", addon.Name, err)
	}
	return nil
}

func set(status *extensionv1.AddonStatus, entry extensionv1.AddonCluster) {
	entry.Message = hooks.Line(entry.Message, maxReason)
	status.Clusters = slices.DeleteFunc(status.Clusters, func(other extensionv1.AddonCluster) bool { return other.Name == entry.Name })
	if entry.State != "" {
		status.Clusters = append(status.Clusters, entry)
	}
	slices.SortFunc(status.Clusters, func(a, b extensionv1.AddonCluster) int { return cmp.Compare(a.Name, b.Name) })
}

// summarize sets the condition of an Addon from its Clusters.
func summarize(addon *extensionv1.Addon) {
	var waiting []string
	for _, entry := range addon.Status.Clusters {
		if entry.State == extensionv1.AddonWaiting {
			waiting = append(waiting, entry.Name+": "+entry.Message)
		}
	}
	all := len(addon.Status.Clusters)
	condition := metav1.Condition{
		Type: extensionv1.AddonAppliedCondition, Status: metav1.ConditionTrue, Reason: extensionv1.AddonAppliedReason,
		Message: fmt.Sprintf("%d of %d Clusters", all-len(waiting), all), ObservedGeneration: addon.Generation,
	}
	if len(waiting) > 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, extensionv1.AddonWaitingReason
		condition.Message += "; " + hooks.Join(waiting, named)
	}
	meta.SetStatusCondition(&addon.Status.Conditions, condition)
}
