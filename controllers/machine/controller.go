// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine reconciles FooMachines: it orders one instance for each, reports the instance's
// state, and deletes it. For a FooMachine of a pool it observes and deletes the instance that the
// pool created, but never orders one. The instance of a control plane Machine leaves the load
// balancer as soon as the Machine is being deleted, long before the instance itself is deleted.
//
// Limits: a lost instance is never recreated under the same FooMachine, because its Node would come
// back with another identity. The owner of the Machine replaces it.
package machine

import (
	"context"
	"fmt"

	kerrors "k8s.io/apimachinery/pkg/util/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/setup"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const controllerName = "foomachine"

// Options configures the controller.
type Options = setup.Options

type reconciler struct {
	client client.Client
	// live bypasses the cache. It reads bootstrap data, so that no cache holds it, and what must be
	// certain before an instance is ordered.
	live     client.Reader
	clouds   cloudidentity.Clouds
	gate     gate.Gate
	reporter report.Reporter
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := options.Complete(controllerName); err != nil {
		return err
	}
	c := mgr.GetClient()
	r := &reconciler{
		client: c, live: mgr.GetAPIReader(), clouds: options.Clouds,
		gate: gate.Gate{Client: c, WatchFilter: options.WatchFilterValue, Finalizer: infrav1.FooMachineFinalizer},
		reporter: report.Reporter{
			Client: c, Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controllerName), Owned: ownedConditions, Kinds: eventKinds,
		},
	}
	clusterToMachines, err := util.ClusterToTypedObjectsMapper(r.client, &infrav1.FooMachineList{}, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("mapping Clusters to FooMachines: %w", err)
	}
	machineToFooMachine := util.MachineToInfrastructureMapFunc(infrav1.GroupVersion.WithKind("FooMachine"))
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	hasFilterLabel := predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooMachine{}, builder.WithPredicates(hasFilterLabel, gate.BesidesStatus())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(machineToFooMachine),
			builder.WithPredicates(hasFilterLabel, gate.BesidesStatus())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(clusterToMachines), builder.WithPredicates(
			hasFilterLabel, predicate.Or[client.Object](
				predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), log),
				predicates.ClusterControlPlaneInitialized(mgr.GetScheme(), log), gate.Deleted()))).
		Watches(&infrav1.FooClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(cloudidentity.ToObjects(r.client, &infrav1.FooMachineList{})),
			builder.WithPredicates(cloudidentity.Changed())).
		WatchesRawSource(options.Events.Source(requestsFor, cloudevents.ListAll(r.client, &infrav1.FooMachineList{}))).
		WithOptions(options.Controller).
		Complete(r)
}

func requestsFor(event cloud.Event) []reconcile.Request {
	if event.Kind != cloud.EventInstance {
		return nil
	}
	key, ok := ownertags.MachineOf(event.Name, event.Tags)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachines,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachines/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters;fooclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings one FooMachine and its instance closer to what its spec asks for.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fooMachine := &infrav1.FooMachine{}
	if mine, err := r.gate.Read(ctx, req.NamespacedName, fooMachine); err != nil || !mine {
		return ctrl.Result{}, err
	}
	s, err := r.owners(ctx, fooMachine)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	// A FooMachine whose cluster has no usable identity has ordered nothing, so it needs no
	// finalizer.
	foocloud := r.clouds.OfCluster(ctx, s.clusterKey())
	if cloudidentity.Usable(foocloud) {
		if added, err := r.gate.Hold(ctx, fooMachine); err != nil || added {
			return ctrl.Result{}, err
		}
	}
	written, err := r.reporter.Begin(ctx, s.cluster, fooMachine)
	if err != nil || written == nil {
		return ctrl.Result{}, err
	}
	d, err := r.decide(ctx, foocloud, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	o := r.apply(ctx, foocloud, s, d)
	setStatus(s, o)
	result, err := o.result()
	return result, kerrors.NewAggregate([]error{written.Write(ctx), err})
}

// decide observes and decides. Before an instance is created, it asks the API server whether one
// was ever ordered: a stale cache may not show the provider ID yet, and if that instance was lost
// meanwhile, another one would be created.
func (r *reconciler) decide(ctx context.Context, c cloud.Instances, s *state) (decision, error) {
	observe(ctx, c, s)
	d := decide(s)
	if d.action != createInstance {
		return d, nil
	}
	now := &infrav1.FooMachine{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(s.fooMachine), now); err != nil {
		return decision{}, fmt.Errorf("getting FooMachine %s before its instance is created: %w", s.fooMachine.Name, err)
	}
	s.fooMachine.Spec.ProviderID = now.Spec.ProviderID
	observe(ctx, c, s)
	return decide(s), nil
}
