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

// Package cluster reconciles FooClusters: it orders the load balancer of a cluster's control plane, writes its address as
// the control plane endpoint, and reports the zones of the cloud as failure domains.
//
// Limits: it knows nothing of machines. The load balancer finds control plane instances by their tags.
package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kerrors "k8s.io/apimachinery/pkg/util/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/labels"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"
	"sigs.k8s.io/cluster-api/util/secret"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const controllerName = "foocluster"

// Cloud is the part of the cloud that a FooCluster needs.
type Cloud interface {
	cloud.Catalog
	cloud.LoadBalancers
}

// Options of the controller.
type Options struct {
	// Clouds have the load balancers and zones. Required.
	Clouds cloudidentity.Clouds
	// Events tells of changes in the cloud. Required.
	Events *cloudevents.Events
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, is all objects.
	WatchFilterValue string
	// Now is the clock by which the controller waits for a kubeconfig; the default is time.Now.
	Now func() time.Time
	// Controller holds options of controller-runtime. The default rate limiter is that of cloudfault.
	Controller controller.Options
}

type reconciler struct {
	client   client.Client
	clouds   cloudidentity.Clouds
	recorder events.EventRecorder
	// now is the clock.
	now func() time.Time
	// watchFilter is the value of the watch filter label that objects must have; empty for all.
	watchFilter string
}

// SetupWithManager adds the controller to a manager.
//
//contract:infra-cluster/multi-tenancy
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Clouds == nil || options.Events == nil {
		return fmt.Errorf("the %s controller needs a cloud and its events", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	r := &reconciler{
		client: mgr.GetClient(), clouds: options.Clouds, recorder: mgr.GetEventRecorder(controllerName),
		watchFilter: options.WatchFilterValue, now: options.Now,
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	clusters := util.ClusterToInfrastructureMapFunc(ctx, infrav1.GroupVersion.WithKind("FooCluster"), r.client, &infrav1.FooCluster{})
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooCluster{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue),
			predicates.ResourceIsNotExternallyManaged(mgr.GetScheme(), log),
		)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(clusters), builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue),
			predicates.ClusterPausedTransitions(mgr.GetScheme(), log),
		)).
		Watches(&infrav1.FooClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(cloudidentity.ToFooClusters(r.client)),
			builder.WithPredicates(cloudidentity.Changed())).
		WatchesMetadata(secretMetadata(), handler.EnqueueRequestsFromMapFunc(r.kubeconfigToFooCluster)).
		WatchesRawSource(options.Events.Source(requestsFor, cloudevents.ListAll(r.client, &infrav1.FooClusterList{}))).
		WithOptions(options.Controller).
		Complete(r)
}

// kubeconfigToFooCluster maps the Secret that holds a Cluster's kubeconfig to the Cluster's FooCluster.
func (r *reconciler) kubeconfigToFooCluster(ctx context.Context, object client.Object) []reconcile.Request {
	name, purpose, err := secret.ParseSecretName(object.GetName())
	if err != nil || purpose != secret.Kubeconfig {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: object.GetNamespace(), Name: name}
	if err := r.client.Get(ctx, key, cluster); err != nil || cluster.Spec.InfrastructureRef.Kind != "FooCluster" {
		return nil
	}
	key.Name = cluster.Spec.InfrastructureRef.Name
	return []reconcile.Request{{NamespacedName: key}}
}

func requestsFor(event cloud.Event) []reconcile.Request {
	owner, ok := ownertags.OwnerOf(event.Tags)
	if !ok || event.Kind != cloud.EventLoadBalancer || owner.Kind != ownertags.KindCluster {
		return nil
	}
	return []reconcile.Request{{NamespacedName: owner.Key}}
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// The diagnostics endpoint asks the API server who its caller is, and what that one may read:
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// Reconcile brings one FooCluster and its load balancer closer to what its spec asks for.
//
//contract:infra-cluster/externally-managed
//contract:infra-cluster/pausing
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fooCluster, err := r.get(ctx, req.NamespacedName)
	if err != nil || fooCluster == nil {
		return ctrl.Result{}, err
	}
	s, err := r.observe(ctx, fooCluster)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	if _, err := finalizers.EnsureFinalizer(ctx, r.client, fooCluster, infrav1.FooClusterFinalizer); err != nil {
		return ctrl.Result{}, err
	}
	isPaused, _, err := paused.EnsurePausedCondition(ctx, r.client, s.cluster, fooCluster)
	if err != nil || isPaused {
		return ctrl.Result{}, err
	}

	helper, err := patch.NewHelper(fooCluster, r.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := fooCluster.DeepCopy()
	r.apply(ctx, s, decide(s))
	setStatus(s)
	result, cloudErr := s.result()
	if err := r.write(ctx, helper, fooCluster); err != nil {
		return ctrl.Result{}, kerrors.NewAggregate([]error{err, cloudErr})
	}
	r.recordEvents(before, fooCluster)
	return result, cloudErr
}

// get reads the FooCluster, and returns none where there is nothing to do: it is gone, or externally managed, or another
// manager's. The watches leave such objects out too, but events of the cloud and of other objects lead to them as well.
func (r *reconciler) get(ctx context.Context, key client.ObjectKey) (*infrav1.FooCluster, error) {
	fooCluster := &infrav1.FooCluster{}
	if err := r.client.Get(ctx, key, fooCluster); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if (r.watchFilter != "" && !labels.HasWatchLabel(fooCluster, r.watchFilter)) || annotations.IsExternallyManaged(fooCluster) {
		return nil, nil
	}
	return fooCluster, nil
}

// write is the only way by which the controller writes a FooCluster, besides its finalizer and pause condition.
// It writes the spec before the status, so that the endpoint stands in the spec before provisioned is reported.
func (r *reconciler) write(ctx context.Context, helper *patch.Helper, fooCluster *infrav1.FooCluster) error {
	err := helper.Patch(ctx, fooCluster, patch.WithOwnedConditions{Conditions: ownedConditions})
	return report.IgnoreGone(err, fooCluster)
}
