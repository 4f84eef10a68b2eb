// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster reconciles FooClusters: it orders the load balancer of a cluster's control plane,
// writes its address as the control plane endpoint, and reports the zones that it uses as failure
// domains. A deleted FooCluster stays until the FooMachines and FooMachinePools of its cluster are
// gone, because it determines which cloud they are in.
//
// Limits: it creates and deletes no machines. The load balancer selects control plane instances by
// their tags.
package cluster

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kerrors "k8s.io/apimachinery/pkg/util/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/predicates"
	"sigs.k8s.io/cluster-api/util/secret"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/setup"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const controllerName = "foocluster"

// Cloud is the part of the cloud that a FooCluster needs.
type Cloud interface {
	cloud.Catalog
	cloud.LoadBalancers
}

// Options configures the controller.
type Options = setup.Options

type reconciler struct {
	client client.Client
	// live bypasses the cache.
	live     client.Reader
	clouds   cloudidentity.Clouds
	gate     gate.Gate
	reporter report.Reporter
	now      func() time.Time
	missing  missing
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	return setupWithClock(ctx, mgr, options, time.Now)
}

func setupWithClock(ctx context.Context, mgr ctrl.Manager, options Options, now func() time.Time) error {
	if err := options.Complete(controllerName); err != nil {
		return err
	}
	c := mgr.GetClient()
	r := &reconciler{
		client: c, live: mgr.GetAPIReader(), clouds: options.Clouds, now: now,
		gate: gate.Gate{Client: c, WatchFilter: options.WatchFilterValue, Finalizer: infrav1.FooClusterFinalizer},
		reporter: report.Reporter{
			Client: c, Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controllerName), Owned: ownedConditions, Kinds: eventKinds,
		},
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	clusters := util.ClusterToInfrastructureMapFunc(ctx, infrav1.GroupVersion.WithKind("FooCluster"), r.client, &infrav1.FooCluster{})
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooCluster{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue),
			predicates.ResourceIsNotExternallyManaged(mgr.GetScheme(), log),
			gate.BesidesStatus(),
		)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(clusters), builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue),
			predicate.Or[client.Object](predicates.ClusterPausedTransitions(mgr.GetScheme(), log), gate.Deleted()),
		)).
		Watches(&infrav1.FooClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(cloudidentity.ToObjects(c, &infrav1.FooClusterList{})),
			builder.WithPredicates(cloudidentity.Changed())).
		Watches(&infrav1.FooMachine{}, handler.EnqueueRequestsFromMapFunc(r.userToFooCluster), builder.WithPredicates(gate.CreatedOrDeleted())).
		Watches(&infrav1.FooMachinePool{}, handler.EnqueueRequestsFromMapFunc(r.userToFooCluster), builder.WithPredicates(gate.CreatedOrDeleted())).
		WatchesMetadata(secretMetadata(), handler.EnqueueRequestsFromMapFunc(r.kubeconfigToFooCluster)).
		WatchesRawSource(options.Events.Source(requestsFor, cloudevents.ListAll(r.client, &infrav1.FooClusterList{}))).
		WithOptions(options.Controller).
		Complete(r)
}

// kubeconfigToFooCluster maps the Secret that holds a Cluster's kubeconfig to the Cluster's
// FooCluster.
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

// userToFooCluster maps a created or deleted FooMachine or FooMachinePool to the FooCluster of its
// cluster if that FooCluster is being deleted.
func (r *reconciler) userToFooCluster(ctx context.Context, object client.Object) []reconcile.Request {
	all := &infrav1.FooClusterList{}
	if err := r.client.List(ctx, all, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "FooClusters could not be listed after a FooMachine or FooMachinePool changed")
		return nil
	}
	var requests []reconcile.Request
	for i := range all.Items {
		fooCluster := &all.Items[i]
		if !fooCluster.DeletionTimestamp.IsZero() && cloudidentity.ClusterOf(fooCluster) == cloudidentity.ClusterOf(object) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(fooCluster)})
		}
	}
	return requests
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
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities;foomachines;foomachinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// The diagnostics endpoint asks the API server to authenticate and authorize its callers:
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// Reconcile brings one FooCluster and its load balancer closer to what its spec asks for.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fooCluster := &infrav1.FooCluster{}
	mine, err := r.gate.Read(ctx, req.NamespacedName, fooCluster)
	if err != nil || !mine || annotations.IsExternallyManaged(fooCluster) {
		return ctrl.Result{}, err
	}
	s, err := r.observe(ctx, fooCluster)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	// A FooCluster without a usable identity has ordered nothing, so it needs no finalizer.
	foocloud := r.clouds.OfFooCluster(ctx, fooCluster)
	if cloudidentity.Usable(foocloud) {
		if added, err := r.gate.Hold(ctx, fooCluster); err != nil || added {
			return ctrl.Result{}, err
		}
	}
	written, err := r.reporter.Begin(ctx, s.cluster, fooCluster)
	if err != nil || written == nil {
		return ctrl.Result{}, err
	}
	d := decide(s)
	o := apply(ctx, foocloud, s, d)
	setStatus(s, d, o)
	result, err := resultOf(s, o)
	return result, kerrors.NewAggregate([]error{written.Write(ctx), err})
}
