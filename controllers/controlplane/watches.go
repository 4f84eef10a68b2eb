// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/predicates"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const controllerName = "foocontrolplane"

// Options of the controller.
type Options struct {
	// WatchFilterValue restricts the controller to FooControlPlanes whose label
	// cluster.x-k8s.io/watch-filter has this value; empty means all.
	WatchFilterValue string
	// ClusterCache of the manager. Its cache options should include workload.CacheByObject.
	ClusterCache clustercache.ClusterCache
	// SecretClient reads secrets. It may cache those that Cluster API labels. The manager's own client
	// must not cache secrets.
	SecretClient client.Client
	// Workload reaches workload clusters. The default uses the ClusterCache and the kubeconfig
	// secrets.
	Workload workload.Access
	// EtcdTimeout limits each round of requests to one etcd member; the default is 5 s.
	EtcdTimeout time.Duration
	// UnseenGrace is how long conditions keep showing the last known state of an unreachable workload
	// cluster; the default is five minutes.
	UnseenGrace time.Duration
	// Concurrency is how many FooControlPlanes are reconciled at once; the default is 10.
	Concurrency int
}

const (
	defaultConcurrency    = 10
	reconciliationTimeout = time.Minute
)

func (o Options) withDefaults(live client.Reader) (Options, error) {
	if o.SecretClient == nil || o.ClusterCache == nil && o.Workload == nil {
		return o, errors.New("options: SecretClient must be set, and ClusterCache or Workload")
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Workload == nil {
		o.Workload = workload.NewConnections(o.ClusterCache, o.SecretClient, live, o.EtcdTimeout)
	}
	return o, nil
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	options, err := options.withDefaults(mgr.GetAPIReader())
	if err != nil {
		return err
	}
	numbers, err := registered(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	r := &Reconciler{
		client:       mgr.GetClient(),
		apiReader:    mgr.GetAPIReader(),
		infraReader:  cacheOnceSynced{Reader: mgr.GetClient(), cache: mgr.GetCache(), live: mgr.GetAPIReader()},
		certificates: certs.NewStore(options.SecretClient, mgr.GetClient()),
		kubeconfigs:  kubeconfig.NewStore(options.SecretClient, mgr.GetClient()),
		workload:     options.Workload,
		metrics:      numbers,
		applied:      lru.New(appliedKnown),
		memories:     newMemories(),
		recorder:     mgr.GetEventRecorder(controllerName),
		clock:        clock.RealClock{},
		gate:         gate.Gate{Client: mgr.GetClient(), WatchFilter: options.WatchFilterValue, Finalizer: controlplanev1.FooControlPlaneFinalizer},
		reporter:     report.Reporter{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Owned: conditionTypes()},
		unseenGrace:  options.UnseenGrace,
	}
	r.byCluster = handler.EnqueueRequestsFromMapFunc(r.ofSameCluster)
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	filter := predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue)
	// Objects that a FooControlPlane owns need not have the label, so the filter covers only objects
	// that users label.
	build := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&controlplanev1.FooControlPlane{}, builder.WithPredicates(filter, controlPlaneChanged())).
		Watches(&clusterv1.Machine{}, gathered(ofOwner(mgr)), builder.WithPredicates(predicates.ResourceIsChanged(mgr.GetScheme(), log))).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster), builder.WithPredicates(filter, clusterChanged())).
		// A control plane that is being deleted waits for its workers.
		Watches(&clusterv1.Machine{}, r.byCluster, builder.WithPredicates(gate.Deleted())).
		Watches(&clusterv1.MachinePool{}, r.byCluster, builder.WithPredicates(gate.Deleted())).
		WatchesRawSource(r.workload.Source(r.byCluster)).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency, ReconciliationTimeout: reconciliationTimeout})
	if options.ClusterCache != nil {
		build = build.WatchesRawSource(options.ClusterCache.GetClusterSource(controllerName, ofCluster))
	}
	r.controller, err = build.Build(r)
	if err != nil {
		return fmt.Errorf("building the controller: %w", err)
	}
	r.tracker = external.ObjectTracker{
		Controller:      r.controller,
		Cache:           mgr.GetCache(),
		Scheme:          mgr.GetScheme(),
		PredicateLogger: &log,
	}
	return nil
}

// ofOwner maps a Machine to the FooControlPlane that owns it.
func ofOwner(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &controlplanev1.FooControlPlane{}, handler.OnlyControllerOwner())
}

// ofCluster maps a Cluster to its FooControlPlane.
func ofCluster(_ context.Context, object client.Object) []ctrl.Request {
	cluster, ok := object.(*clusterv1.Cluster)
	if !ok {
		return nil
	}
	reference := cluster.Spec.ControlPlaneRef
	if reference.Kind != controlPlaneKind.Kind || reference.APIGroup != controlPlaneKind.Group {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: reference.Name}}}
}

// ofSameCluster maps an infrastructure object to the FooControlPlane of its Cluster.
func (r *Reconciler) ofSameCluster(ctx context.Context, object client.Object) []ctrl.Request {
	name := object.GetLabels()[clusterv1.ClusterNameLabel]
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Cluster" && owner.APIVersion == clusterv1.GroupVersion.String() {
			name = owner.Name
		}
	}
	if name == "" {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: name}, cluster); err != nil {
		return nil
	}
	return ofCluster(ctx, cluster)
}

// watchInfrastructure triggers reconciles when the endpoint appears, before Cluster API copies it,
// and when machines start. It runs first: the informer of infrastructure machines syncs while
// certificates are made.
func (r *Reconciler) watchInfrastructure(ctx context.Context, s *scope) error {
	var failed []error
	watch := func(object *unstructured.Unstructured, filters ...predicate.Predicate) {
		failed = append(failed, r.tracker.Watch(ctrl.LoggerFrom(ctx), object, r.byCluster, append(filters, infraChanged())...))
	}
	if s.infraObject != nil {
		watch(s.infraObject)
	}
	if s.template != nil {
		clone := &unstructured.Unstructured{}
		clone.SetGroupVersionKind(cloneKind(s.template.GroupVersionKind()))
		watch(clone, ofControlPlaneMachine())
	}
	for _, object := range s.infraMachines {
		watch(object, ofControlPlaneMachine())
	}
	return errors.Join(failed...)
}

// watchWorkload triggers reconciles on changes in the workload cluster, once there is a connection.
// The ClusterCache reports when there is one, which triggers a reconcile.
func (r *Reconciler) watchWorkload(ctx context.Context, s *scope) error {
	if !s.initialized || s.deleting() {
		return nil
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s.controlPlane)}
	err := r.workload.Watch(ctx, workload.Watch{
		Cluster:    s.key(),
		Controller: r.controller,
		Handler: gathered(handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request {
			return []ctrl.Request{request}
		})),
	})
	if errors.Is(err, clustercache.ErrClusterNotConnected) {
		return nil
	}
	s.watching = err == nil
	return err
}

// gatherTime is how long to collect events of Machines, Nodes and static pods. They come in bursts,
// and each reconcile asks every etcd member.
const gatherTime = 300 * time.Millisecond

// gatheringQueue delays requests so that equal ones merge.
type gatheringQueue struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Add implements workqueue.TypedInterface.
func (q gatheringQueue) Add(request ctrl.Request) { q.AddAfter(request, gatherTime) }

// gathered merges the requests that a handler makes for the same object within gatherTime.
func gathered(inner handler.EventHandler) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { inner.Create(ctx, e, gatheringQueue{q}) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { inner.Update(ctx, e, gatheringQueue{q}) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { inner.Delete(ctx, e, gatheringQueue{q}) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) {
			inner.Generic(ctx, e, gatheringQueue{q})
		},
	}
}
