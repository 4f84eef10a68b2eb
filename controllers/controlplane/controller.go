// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const (
	// awaitedInterval is how often to look for the API server of the first Machine while it starts.
	// There is nothing to watch before it answers. If it does not answer within awaitedSoon, the
	// interval grows up to awaitedMaxInterval, so that API servers that never answer do not occupy the
	// workers.
	awaitedInterval    = 300 * time.Millisecond
	awaitedSoon        = 30 * time.Second
	awaitedMaxInterval = 10 * time.Second
	// staleInterval is how soon to decide again after the cache was stale.
	staleInterval = 100 * time.Millisecond
	// unsettledInterval is how often to look at problems that no watch reports: etcd, the whole
	// workload cluster before the ClusterCache is connected, and objects that the user has yet to
	// provide.
	unsettledInterval = 3 * time.Second
	// watchedInterval is the same for problems that a watch reports, such as a Machine that has yet to
	// join.
	watchedInterval = 10 * time.Second
)

var (
	controlPlaneKind      = controlplanev1.GroupVersion.WithKind("FooControlPlane")
	controlPlaneGroupKind = controlPlaneKind.GroupKind()
)

// Reconciler reconciles FooControlPlanes.
type Reconciler struct {
	client       client.Client
	apiReader    client.Reader
	infraReader  client.Reader
	certificates *certs.Store
	kubeconfigs  *kubeconfig.Store
	workload     workload.Access
	metrics      *metrics
	applied      *lru.Cache
	memories     memories
	recorder     events.EventRecorder
	clock        clock.PassiveClock
	gate         gate.Gate
	reporter     report.Reporter
	unseenGrace  time.Duration

	controller controller.Controller
	tracker    external.ObjectTracker
	byCluster  handler.EventHandler
}

// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes/status,verbs=get;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines/status,verbs=get;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// The diagnostics endpoint authenticates and authorizes its callers with the API server:
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// Permissions for infrastructure objects are in config/rbac/control-plane/infrastructures_role.yaml,
// so that administrators can limit them to the kinds that they use.

// Reconcile takes the next step towards the spec of one FooControlPlane.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	controlPlane := &controlplanev1.FooControlPlane{}
	mine, err := r.gate.Read(ctx, request.NamespacedName, controlPlane)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !mine { // it is gone, or belongs to another manager
		r.metrics.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	cluster, written, err := r.begin(ctx, controlPlane)
	if err != nil || written == nil {
		return ctrl.Result{}, err
	}
	ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("Cluster", klog.KObj(cluster)))

	s, err := r.observe(ctx, controlPlane, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	s.report = written
	failure := r.prepare(ctx, s)
	if pending := r.observeWorkload(ctx, s); pending {
		return ctrl.Result{}, failure
	}
	seen := s.state()
	next := plan.Decide(seen)
	switch err := r.carryOut(ctx, s, next); {
	case !errors.Is(err, errStale):
		failure = errors.Join(failure, err)
	case failure == nil:
		// The cache catches up on its own. Next to another failure, staleness is not worth reporting.
		return ctrl.Result{RequeueAfter: staleInterval}, nil
	}
	result := outcome{state: seen, next: next, failure: steadied(failure)}
	rolling := rollingSince(controlPlane)
	s.setStatus(result)
	r.metrics.record(s, next, result.failure, rolling)
	err = errors.Join(result.failure, s.report.Write(ctx), r.follow(ctx, s, result))
	return r.conclude(s, result, err)
}

// begin returns no report if there is nothing to do now: no Cluster owns the FooControlPlane yet,
// it is paused, or it was just written and will be read again.
func (r *Reconciler) begin(ctx context.Context, controlPlane *controlplanev1.FooControlPlane) (*clusterv1.Cluster, *report.Report, error) {
	cluster, err := r.ownerCluster(ctx, controlPlane)
	if err != nil || cluster == nil {
		return nil, nil, err
	}
	if added, err := r.gate.Hold(ctx, controlPlane); err != nil || added {
		return nil, nil, err
	}
	written, err := r.reporter.Begin(ctx, cluster, controlPlane)
	return cluster, written, err
}

// ownerCluster returns the Cluster of a FooControlPlane, or nil if it has none yet. A Cluster is
// deleted after its control plane, but somebody may have removed its finalizers. What is left of it
// is enough to delete the control plane, which would otherwise stay forever.
func (r *Reconciler) ownerCluster(ctx context.Context, controlPlane *controlplanev1.FooControlPlane) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.client, controlPlane.ObjectMeta)
	if !apierrors.IsNotFound(err) || controlPlane.DeletionTimestamp.IsZero() {
		return cluster, err
	}
	gone := &clusterv1.Cluster{}
	gone.Namespace = controlPlane.Namespace
	for _, owner := range controlPlane.OwnerReferences {
		if owner.Kind == clusterv1.ClusterKind {
			gone.Name = owner.Name
		}
	}
	return gone, nil
}

// prepare starts watches and writes what Machines need before they can be created.
func (r *Reconciler) prepare(ctx context.Context, s *scope) error {
	return errors.Join(r.watchInfrastructure(ctx, s), r.ensurePrerequisites(ctx, s))
}

// carryOut updates the Machines' metadata and then carries out the decision, unless the first step
// fails or finds the cache stale. Failed effects back off; a change of the spec resets the backoff.
func (r *Reconciler) carryOut(ctx context.Context, s *scope, next plan.Decision) error {
	if err := r.try(s, "propagate", func() error { return r.propagate(ctx, s) }); err != nil {
		return err
	}
	return r.try(s, fmt.Sprintf("%s %s %x", next.Action, next.Machine, next.Etcd.Leaving.ID), func() error { return r.apply(ctx, s, next) })
}

// follow does what the status does not wait for: the conditions of the Machines and the work in the
// workload cluster.
func (r *Reconciler) follow(ctx context.Context, s *scope, result outcome) error {
	if result.next.Action == plan.ActionFinish {
		return nil
	}
	return errors.Join(
		r.setMachineConditions(ctx, s, result),
		r.watchWorkload(ctx, s),
		r.try(s, "keep tokens", func() error { return r.keepTokens(ctx, s) }),
		r.try(s, "lead", func() error { return r.takeLeadership(ctx, s) }),
		r.try(s, "avoid outdated Nodes", func() error { return r.avoidOutdatedNodes(ctx, s, result.state) }),
		r.try(s, "settle", func() error { return r.settle(ctx, s, result.next) }),
	)
}

func (r *Reconciler) try(s *scope, effect string, do func() error) error {
	return s.memory.failed.run(fmt.Sprintf("%s %d", effect, s.controlPlane.Generation), s.now, do)
}

// conclude emits the event and returns when to reconcile again. A failure that was only postponed
// is no news and gets no event.
func (r *Reconciler) conclude(s *scope, result outcome, err error) (ctrl.Result, error) {
	if postponed(result.failure).IsZero() {
		announce(r.recorder, s.controlPlane, result.next, result.failure)
	}
	if again := postponed(err); !again.IsZero() {
		return s.requeueBy(again, s.requeue(result)), nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return s.requeue(result), nil
}

// requeue returns when to reconcile again if no watch fires.
func (s *scope) requeue(result outcome) ctrl.Result {
	switch {
	case s.deleting():
		if s.cluster.UID == "" { // without the Cluster, the watch of its workers does not find the control plane
			return ctrl.Result{RequeueAfter: watchedInterval}
		}
		return ctrl.Result{}
	case result.failure == nil && (s.newlyInitialized || result.next.Action == plan.ActionRemoveMember):
		// No watch reports that a control plane is initialized, or that an etcd member is removed.
		return ctrl.Result{RequeueAfter: staleInterval}
	case awaited(s) != nil:
		return ctrl.Result{RequeueAfter: awaitInterval(s.now.Sub(awaited(s).CreationTimestamp.Time))}
	case s.unwatched() || s.initialized && (s.observation == nil || result.state.Unhealthy()):
		return ctrl.Result{RequeueAfter: s.unsettledInterval(result.next)}
	}
	return s.requeueBy(s.nextDue(), s.requeueBy(result.next.Recheck, ctrl.Result{}))
}

// requeueBy makes sure that the next reconcile is no later than the given time. It ignores times in
// the past.
func (s *scope) requeueBy(at time.Time, result ctrl.Result) ctrl.Result {
	if wait := at.Sub(s.now); wait > 0 && (result.RequeueAfter == 0 || wait < result.RequeueAfter) {
		result.RequeueAfter = wait
	}
	return result
}

// awaitInterval is how soon to look again for the API server of a first Machine of this age.
func awaitInterval(age time.Duration) time.Duration {
	if age < awaitedSoon {
		return awaitedInterval
	}
	return min(age/10, awaitedMaxInterval)
}

// unsettledInterval is longer if the next thing to happen is one that a watch reports: a Machine is
// deleted, or its Node or its Pods become healthy.
func (s *scope) unsettledInterval(next plan.Decision) time.Duration {
	if s.watching && (next.Reason == plan.ReasonMachinesNotHealthy || next.Reason == plan.ReasonWaitingForMachineDeletion) {
		return watchedInterval
	}
	return unsettledInterval
}

// unwatched reports whether something is missing whose arrival no watch reports.
func (s *scope) unwatched() bool {
	return s.infraMissing || s.template == nil || s.prerequisites.certificates != nil || s.kubeconfigUnusable()
}
