/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/secret"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// scope is what one reconcile knows: what was observed before the plan, and what the cloud answered after it.
type scope struct {
	fooCluster *infrav1.FooCluster
	// cluster is nil only while the FooCluster is deleted after its Cluster is gone.
	cluster *clusterv1.Cluster
	cloud   Cloud

	zones             []cloud.Zone
	zonesFault        cloudfault.Fault
	loadBalancer      *cloud.LoadBalancer
	loadBalancerFault cloudfault.Fault
	// gone says that nothing is left in the cloud.
	gone bool
	// now is when the reconcile started.
	now time.Time
	// kubeconfigMissing says that the cluster has a control plane that has not made its kubeconfig yet.
	kubeconfigMissing bool
}

func (s *scope) owner() ownertags.Owner {
	return ownertags.Owner{Kind: ownertags.KindCluster, Key: client.ObjectKeyFromObject(s.fooCluster)}
}

func (s *scope) deleting() bool { return !s.fooCluster.DeletionTimestamp.IsZero() }

// result is what Reconcile returns: the load balancer's error is the more important one.
func (s *scope) result() (ctrl.Result, error) {
	if !s.loadBalancerFault.IsZero() {
		return s.loadBalancerFault.Result()
	}
	if !s.zonesFault.IsZero() {
		return s.zonesFault.Result()
	}
	return ctrl.Result{RequeueAfter: kubeconfigWait(s)}, nil
}

// observe reads the owner, and returns no scope for a FooCluster that has none yet.
func (r *reconciler) observe(ctx context.Context, fooCluster *infrav1.FooCluster) (*scope, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.client, fooCluster.ObjectMeta)
	s := &scope{fooCluster: fooCluster, cluster: cluster, cloud: r.clouds.OfFooCluster(ctx, fooCluster), now: r.now()}
	if s.deleting() {
		return s, client.IgnoreNotFound(err)
	}
	if err != nil {
		return nil, err
	}
	if cluster == nil {
		ctrl.LoggerFrom(ctx).Info("Waiting for Cluster API to make a Cluster the owner", "FooCluster", klog.KObj(fooCluster))
		return nil, nil
	}
	s.kubeconfigMissing, err = r.isKubeconfigMissing(ctx, s)
	return s, err
}

// isKubeconfigMissing looks no more once the FooCluster is provisioned: it then no longer matters.
func (r *reconciler) isKubeconfigMissing(ctx context.Context, s *scope) (bool, error) {
	if ptr.Deref(s.fooCluster.Status.Initialization.Provisioned, false) || !s.cluster.Spec.ControlPlaneRef.IsDefined() {
		return false, nil
	}
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: secret.Name(s.cluster.Name, secret.Kubeconfig)}
	err := r.client.Get(ctx, key, secretMetadata())
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// secretMetadata is a Secret without its data, which the controller has no use for.
func secretMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return object
}
