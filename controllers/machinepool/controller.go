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

package machinepool

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/labels"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
)

const controllerName = "foomachinepool"

// rereadAfter is when to go on after a write of the status.
const rereadAfter = 10 * time.Millisecond

// Cloud is the part of the cloud that a FooMachinePool needs.
type Cloud interface {
	cloud.Catalog
	cloud.Instances
	cloud.Pools
}

// Options of the controller.
type Options struct {
	// Clouds have the pools and their instances. Required.
	Clouds cloudidentity.Clouds
	// Events tells of changes in the cloud. Required.
	Events *cloudevents.Events
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, is all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The default rate limiter is that of cloudfault.
	Controller controller.Options
}

type reconciler struct {
	client client.Client
	// live reads past the cache: bootstrap data, so that no cache holds it, and what a shrink must know for sure.
	live client.Reader
	// secrets reads the metadata of Secrets from the cache.
	secrets  client.Reader
	clouds   cloudidentity.Clouds
	recorder events.EventRecorder
	clock    clock.PassiveClock
	memories *memories
	pace     *pace
	// watchFilter is the value of the watch filter label that objects must have; empty for all.
	watchFilter string
}

// SetupWithManager adds the controller to a manager.
//
//contract:infra-machinepool/multi-tenancy
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Clouds == nil || options.Events == nil {
		return fmt.Errorf("the %s controller needs a cloud and its events", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	r := &reconciler{
		client: mgr.GetClient(), live: mgr.GetAPIReader(), clouds: options.Clouds,
		recorder: mgr.GetEventRecorder(controllerName), watchFilter: options.WatchFilterValue,
		clock: clock.RealClock{}, secrets: mgr.GetCache(), memories: newMemories(), pace: newPace(),
	}
	if err := addPoolIndex(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	clusterToPools, err := util.ClusterToTypedObjectsMapper(r.client, &infrav1.FooMachinePoolList{}, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("map Clusters to FooMachinePools: %w", err)
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
			hasFilterLabel, predicates.Any(mgr.GetScheme(), log,
				predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), log),
				predicates.ClusterControlPlaneInitialized(mgr.GetScheme(), log)))).
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

// Reconcile brings one FooMachinePool and its pool in the cloud closer to what MachinePool and FooMachinePool ask for.
//
//contract:infra-machinepool/pausing
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if rest := r.pace.rest(req.NamespacedName, r.clock.Now()); rest > 0 {
		return ctrl.Result{RequeueAfter: rest}, nil
	}
	pool, err := r.get(ctx, req.NamespacedName)
	if err != nil || pool == nil {
		return ctrl.Result{}, err
	}
	s, result, err := r.gate(ctx, pool)
	if err != nil || s == nil {
		return result, err
	}
	before := pool.DeepCopy()
	s.written = pool.DeepCopy()
	// An error that is not the cloud's leaves the status as it was: what was observed may be half of the truth.
	if err := r.reconcile(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	return r.report(ctx, s, before)
}

// gate returns no scope where there is nothing to do now: the pool has no owner yet, got its finalizer, or is paused.
func (r *reconciler) gate(ctx context.Context, pool *infrav1.FooMachinePool) (*scope, ctrl.Result, error) {
	s, err := r.owners(ctx, pool)
	if errors.Is(err, errNoOwner) {
		return nil, ctrl.Result{}, nil
	}
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	// A FooMachinePool whose cluster has no usable identity has ordered nothing, so nothing keeps it from being deleted.
	if cloudidentity.Usable(s.cloud) {
		if added, err := finalizers.EnsureFinalizer(ctx, r.client, pool, infrav1.FooMachinePoolFinalizer); err != nil || added {
			return nil, ctrl.Result{}, err
		}
	}
	isPaused, changed, err := paused.EnsurePausedCondition(ctx, r.client, s.cluster, pool)
	if err != nil || isPaused {
		return nil, ctrl.Result{}, err
	}
	if changed { // what was read is old now, and a change of the status wakes nobody
		return nil, ctrl.Result{RequeueAfter: rereadAfter}, nil
	}
	return s, ctrl.Result{}, nil
}

// report writes what was observed and decided, and then tells of it. Only a pool with which all went well rests afterwards.
func (r *reconciler) report(ctx context.Context, s *scope, before *infrav1.FooMachinePool) (ctrl.Result, error) {
	pool := s.pool
	setSpec(s)
	setStatus(s)
	result, cloudErr := s.result()
	if err := r.write(ctx, s.written, pool); err != nil {
		return ctrl.Result{}, kerrors.NewAggregate([]error{err, cloudErr})
	}
	r.recordEvents(before, pool)
	if cloudErr == nil {
		r.pace.looked(client.ObjectKeyFromObject(pool), len(s.members), r.clock.Now())
	}
	return result, cloudErr
}

// reconcile observes, decides and acts. What the cache does not show yet may change who has to go: a deletion before this
// process began, or the mark that the cluster autoscaler puts on a Machine just before it shrinks the pool. So those decisions are
// made again from what the API server itself says. That is once for a shrink, however many Machines go.
func (r *reconciler) reconcile(ctx context.Context, s *scope) error {
	if err := r.observe(ctx, s, fromCache(r.client)); err != nil {
		return err
	}
	s.assess()
	p := decide(s)
	if p.shrinks() || (len(p.victims) > 0 && !r.memories.known(s.pool)) {
		if err := r.observe(ctx, s, fromServer(r.live)); err != nil {
			return err
		}
		s.assess()
		p = decide(s)
	}
	return r.apply(ctx, s, p)
}

// get reads the FooMachinePool, and returns none where there is nothing to do: it is gone, or another manager's. The watches leave
// such objects out too, but events of the cloud and of other objects lead to them as well.
func (r *reconciler) get(ctx context.Context, key client.ObjectKey) (*infrav1.FooMachinePool, error) {
	pool := &infrav1.FooMachinePool{}
	if err := r.client.Get(ctx, key, pool); err != nil {
		if apierrors.IsNotFound(err) {
			r.memories.forget(key)
			r.pace.forget(key)
		}
		return nil, client.IgnoreNotFound(err)
	}
	if r.watchFilter != "" && !labels.HasWatchLabel(pool, r.watchFilter) {
		return nil, nil
	}
	return pool, nil
}

// write is the only way by which the controller writes a FooMachinePool, besides its finalizer and pause condition.
// It writes the spec before the status, so that the provider IDs are there before the pool is reported as ready, and the status
// names the generation that the write of the spec made. Another change of the spec since it was read makes that write fail.
func (r *reconciler) write(ctx context.Context, before, pool *infrav1.FooMachinePool) error {
	if !equality.Semantic.DeepEqual(before.Spec, pool.Spec) {
		after := before.DeepCopy()
		after.Spec = *pool.Spec.DeepCopy()
		if err := r.client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write the provider IDs of the pool: %w", err)
		}
		before = after
		pool.ResourceVersion, pool.Generation, pool.Status.ObservedGeneration = after.ResourceVersion, after.Generation, after.Generation
	}
	helper, err := patch.NewHelper(before, r.client)
	if err != nil {
		return err
	}
	return report.IgnoreGone(helper.Patch(ctx, pool, patch.WithOwnedConditions{Conditions: ownedConditions}), pool)
}
