// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/secret"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// state is what a reconcile observes before it decides.
type state struct {
	fooCluster *infrav1.FooCluster
	// cluster is nil only if the FooCluster is being deleted and its Cluster is already gone.
	cluster *clusterv1.Cluster
	// users names the objects that may still have something in the cloud. It is set only for a
	// FooCluster that is being deleted.
	users []string
	// now is when the reconcile started.
	now time.Time
	// kubeconfigMissing is the time from which the control plane could have created its kubeconfig
	// from the endpoint but has not. It is zero if the kubeconfig exists or is not needed.
	kubeconfigMissing time.Time
}

func (s *state) owner() ownertags.Owner {
	return ownertags.Owner{Kind: ownertags.KindCluster, Key: client.ObjectKeyFromObject(s.fooCluster)}
}

func (s *state) deleting() bool { return !s.fooCluster.DeletionTimestamp.IsZero() }

// observe returns no state for a FooCluster without an owner, for which there is nothing to do yet.
// It confirms a missing endpoint with the API server: a stale cache may not show the endpoint of a
// load balancer that has been lost since, and that endpoint would be replaced.
func (r *reconciler) observe(ctx context.Context, fooCluster *infrav1.FooCluster) (*state, error) {
	if fooCluster.Spec.ControlPlaneEndpoint.IsZero() {
		now := &infrav1.FooCluster{}
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(fooCluster), now); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		now.DeepCopyInto(fooCluster)
	}
	cluster, err := util.GetOwnerCluster(ctx, r.client, fooCluster.ObjectMeta)
	s := &state{fooCluster: fooCluster, cluster: cluster, now: r.now()}
	if s.deleting() {
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		s.users, err = r.users(ctx, cloudidentity.ClusterOf(fooCluster))
		r.missing.forget(fooCluster.UID)
		return s, err
	}
	if err != nil {
		return nil, err
	}
	if cluster == nil {
		ctrl.LoggerFrom(ctx).Info("Waiting for Cluster API to set the owner Cluster", "FooCluster", klog.KObj(fooCluster))
		return nil, nil
	}
	missing, err := r.isKubeconfigMissing(ctx, s)
	switch {
	case missing && !fooCluster.Spec.ControlPlaneEndpoint.IsZero():
		s.kubeconfigMissing = r.missing.since(fooCluster.UID, s.now)
	case missing:
		s.kubeconfigMissing = s.now
	default:
		r.missing.forget(fooCluster.UID)
	}
	return s, err
}

// users names the objects that may have something in the cloud of a Cluster. The cache may not show
// yet what was created just before the FooCluster was deleted, so it confirms an empty answer with
// the API server.
func (r *reconciler) users(ctx context.Context, cluster client.ObjectKey) ([]string, error) {
	if cluster.Name == "" {
		return nil, nil
	}
	found, err := usersFrom(ctx, r.client, cluster)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return usersFrom(ctx, r.live, cluster)
}

func usersFrom(ctx context.Context, reader client.Reader, cluster client.ObjectKey) ([]string, error) {
	ofCluster := []client.ListOption{client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name}}
	machines, pools := &infrav1.FooMachineList{}, &infrav1.FooMachinePoolList{}
	if err := reader.List(ctx, machines, ofCluster...); err != nil {
		return nil, fmt.Errorf("listing FooMachines: %w", err)
	}
	if err := reader.List(ctx, pools, ofCluster...); err != nil {
		return nil, fmt.Errorf("listing FooMachinePools: %w", err)
	}
	var users []string
	for i := range pools.Items {
		if mayOrder(&pools.Items[i]) {
			users = append(users, "FooMachinePool "+pools.Items[i].Name)
		}
	}
	for i := range machines.Items {
		if mayOrder(&machines.Items[i]) {
			users = append(users, "FooMachine "+machines.Items[i].Name)
		}
	}
	slices.Sort(users)
	return users, nil
}

// mayOrder reports whether an object has something in the cloud or may order it. An object with
// neither finalizers nor owners never did and never will.
func mayOrder(object client.Object) bool {
	return len(object.GetFinalizers()) > 0 || len(object.GetOwnerReferences()) > 0
}

// isKubeconfigMissing reports whether a kubeconfig is needed and missing. Once the FooCluster is
// provisioned, it no longer matters.
func (r *reconciler) isKubeconfigMissing(ctx context.Context, s *state) (bool, error) {
	if ptr.Deref(s.fooCluster.Status.Initialization.Provisioned, false) || !s.cluster.Spec.ControlPlaneRef.IsDefined() {
		return false, nil
	}
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: secret.Name(s.cluster.Name, secret.Kubeconfig)}
	err := r.client.Get(ctx, key, secretMetadata())
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// secretMetadata returns a Secret without its data, which the controller does not need.
func secretMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
}

// missing records since when kubeconfigs have been missing. After a restart, a FooCluster waits for
// its kubeconfig again.
type missing struct {
	first sync.Map
}

// since returns the time of the first call for the object, which is now if there was none before.
func (m *missing) since(object types.UID, now time.Time) time.Time {
	first, _ := m.first.LoadOrStore(object, now)
	since, _ := first.(time.Time)
	return since
}

func (m *missing) forget(object types.UID) { m.first.Delete(object) }
