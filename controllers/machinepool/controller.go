// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

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
)

const controllerName = "foomachinepool"

// rereadAfter is how soon to reread a pool that somebody else just changed in the cloud.
const rereadAfter = 10 * time.Millisecond

// Cloud is the part of the cloud that a FooMachinePool needs.
type Cloud interface {
	cloud.Catalog
	cloud.Instances
	cloud.Pools
}

// Options configures the controller.
type Options = setup.Options

type reconciler struct {
	client client.Client
	// live bypasses the cache. It reads bootstrap data, so that no cache holds it, and what must be
	// certain before the pool shrinks.
	live client.Reader
	// secrets reads the metadata of Secrets from the cache.
	secrets  client.Reader
	clouds   cloudidentity.Clouds
	gate     gate.Gate
	reporter report.Reporter
	clock    clock.PassiveClock
	memories *memories
	pace     pace
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := options.Complete(controllerName); err != nil {
		return err
	}
	c := mgr.GetClient()
	r := &reconciler{
		client: c, live: mgr.GetAPIReader(), secrets: mgr.GetCache(), clouds: options.Clouds,
		gate: gate.Gate{Client: c, WatchFilter: options.WatchFilterValue, Finalizer: infrav1.FooMachinePoolFinalizer},
		reporter: report.Reporter{
			Client: c, Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controllerName), Owned: ownedConditions, Kinds: eventKinds,
		},
		clock: clock.RealClock{}, memories: newMemories(),
	}
	if err := addPoolIndex(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	clusterToPools, err := util.ClusterToTypedObjectsMapper(r.client, &infrav1.FooMachinePoolList{}, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("mapping Clusters to FooMachinePools: %w", err)
	}
	machinePoolToPool := util.MachinePoolToInfrastructureMapFunc(ctx, infrav1.GroupVersion.WithKind(poolKind))
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	hasFilterLabel := predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooMachinePool{}, builder.WithPredicates(hasFilterLabel, gate.BesidesStatus())).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(machinePoolToPool),
			builder.WithPredicates(hasFilterLabel, gate.BesidesStatus())).
		Watches(&infrav1.FooMachine{}, handler.EnqueueRequestsFromMapFunc(fooMachineToPool),
			builder.WithPredicates(gate.BesidesStatus())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(r.machineToPool), builder.WithPredicates(machineMatters())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.secretToPools), builder.OnlyMetadata).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(clusterToPools), builder.WithPredicates(
			hasFilterLabel, predicate.Or[client.Object](
				predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), log),
				predicates.ClusterControlPlaneInitialized(mgr.GetScheme(), log), zonesChanged(), gate.Deleted()))).
		Watches(&infrav1.FooClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(cloudidentity.ToObjects(r.client, &infrav1.FooMachinePoolList{})),
			builder.WithPredicates(cloudidentity.Changed())).
		WatchesRawSource(options.Events.Source(requestsFor, cloudevents.ListAll(r.client, &infrav1.FooMachinePoolList{}))).
		WithOptions(options.Controller).
		Complete(r)
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinepools,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinepools/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachines,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters;fooclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings one FooMachinePool and its pool in the cloud closer to what the MachinePool and
// the FooMachinePool ask for.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if rest := r.pace.rest(req.NamespacedName, r.clock.Now()); rest > 0 {
		return ctrl.Result{RequeueAfter: rest}, nil
	}
	pool := &infrav1.FooMachinePool{}
	mine, err := r.gate.Read(ctx, req.NamespacedName, pool)
	if err != nil || !mine {
		return ctrl.Result{}, r.forget(req.NamespacedName, err)
	}
	s, err := r.owners(ctx, pool)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	if s.report, err = r.begin(ctx, s); err != nil || s.report == nil {
		return ctrl.Result{}, err
	}
	// An error that did not come from the cloud leaves the status as it was: the observation may be
	// incomplete.
	p, err := r.decide(ctx, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	return r.write(ctx, s, r.apply(ctx, s, p))
}

// begin returns no report if there is nothing to do now. A FooMachinePool whose cluster has no
// usable identity has ordered nothing, so it needs no finalizer.
func (r *reconciler) begin(ctx context.Context, s *scope) (*report.Report, error) {
	if cloudidentity.Usable(s.cloud) {
		if added, err := r.gate.Hold(ctx, s.pool); err != nil || added {
			return nil, err
		}
	}
	return r.reporter.Begin(ctx, s.cluster, s.pool)
}

// decide observes and decides. What the cache does not show yet may change the choice of victims: a
// deletion before this process started, what an earlier process remembered last, or the annotation
// that the cluster autoscaler puts on a Machine just before it shrinks the pool. Such decisions are
// therefore made again from the API server's state. That is once per shrink, however many Machines
// are removed.
func (r *reconciler) decide(ctx context.Context, s *scope) (plan, error) {
	p, err := r.decideFrom(ctx, s, fromCache(r.client))
	if err == nil && (p.shrinks() || (len(p.victims) > 0 && !r.memories.known(s.pool))) {
		return r.decideFrom(ctx, s, fromServer(r.live))
	}
	return p, err
}

func (r *reconciler) decideFrom(ctx context.Context, s *scope, from source) (plan, error) {
	if from.live {
		current := &infrav1.FooMachinePool{}
		if err := from.Get(ctx, client.ObjectKeyFromObject(s.pool), current); err != nil {
			return plan{}, fmt.Errorf("reading the memory of the pool: %w", err)
		}
		s.memory = r.memories.recall(current)
	}
	if err := r.observe(ctx, s, from); err != nil {
		return plan{}, err
	}
	s.assess()
	return decide(s), nil
}

// write writes the spec before the status, so that the provider IDs are stored before the pool is
// reported as ready. A rejected object does not keep the rest from being reported. Only a pool for
// which everything went well rests afterwards.
func (r *reconciler) write(ctx context.Context, s *scope, refused error) (ctrl.Result, error) {
	result, err := s.result()
	failed := kerrors.NewAggregate([]error{refused, err})
	spec := func(pool report.Object) {
		if pool, ok := pool.(*infrav1.FooMachinePool); ok {
			setSpec(s, &pool.Spec)
		}
	}
	if err := s.report.Change(ctx, spec); err != nil {
		err = report.IgnoreGone(fmt.Errorf("writing the provider IDs of the pool: %w", err), s.pool)
		return ctrl.Result{}, kerrors.NewAggregate([]error{err, failed})
	}
	setStatus(s)
	if err := s.report.Write(ctx); err != nil {
		return ctrl.Result{}, kerrors.NewAggregate([]error{err, failed})
	}
	if failed != nil {
		return ctrl.Result{}, failed
	}
	r.pace.reconciled(client.ObjectKeyFromObject(s.pool), len(s.members), r.clock.Now())
	return result, nil
}

// forget drops what is known about a pool that is gone or belongs to another manager.
func (r *reconciler) forget(key client.ObjectKey, err error) error {
	if err == nil {
		r.memories.forget(key)
		r.pace.forget(key)
	}
	return err
}
