// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const (
	// awaitedInterval is how soon an API server is looked for again while the first Machine starts. There is nothing to
	// watch before it answers. A Machine that takes longer than awaitedSoon is looked for less and less often, so that those
	// that never answer do not keep the workers from other control planes.
	awaitedInterval    = 300 * time.Millisecond
	awaitedSoon        = 30 * time.Second
	awaitedMaxInterval = 10 * time.Second
	// staleInterval is how soon a decision is made again that was made from a cache that is behind.
	staleInterval = 100 * time.Millisecond
	// unsettledInterval is how soon everything is looked at again while something is not as it should be that shows in no
	// watch: etcd, all of the workload cluster before the ClusterCache is connected, and what a user has yet to provide.
	unsettledInterval = 3 * time.Second
	// watchedInterval is the same for what does show in a watch, such as a Machine that has yet to join.
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
// The diagnostics endpoint asks the API server who its caller is, and what that one may read:
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// Rights on infrastructure are in config/rbac/infrastructures_role.yaml, since administrators may
// narrow them to the kinds that they use.

// Reconcile brings one FooControlPlane a step nearer to its spec.
//
//contract:control-plane/pausing
//contract:control-plane/multiple-instances
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	controlPlane := &controlplanev1.FooControlPlane{}
	mine, err := r.gate.Read(ctx, request.NamespacedName, controlPlane)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !mine { // it is gone, or another manager's
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
		// The cache catches up by itself. Beside another failure this one is not reported.
		return ctrl.Result{RequeueAfter: staleInterval}, nil
	}
	result := outcome{state: seen, next: next, failure: steadied(failure)}
	rolling := rollingSince(controlPlane)
	s.setStatus(result)
	r.metrics.record(s, next, result.failure, rolling)
	err = errors.Join(result.failure, s.report.Write(ctx), r.follow(ctx, s, result))
	return r.conclude(s, result, err)
}

// begin returns no report where there is nothing to do now: no Cluster owns the FooControlPlane yet, it is paused, or it is to be read
// again first.
func (r *Reconciler) begin(ctx context.Context, controlPlane *controlplanev1.FooControlPlane) (*clusterv1.Cluster, *report.Report, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.client, controlPlane.ObjectMeta)
	if err != nil || cluster == nil {
		return nil, nil, err
	}
	if added, err := r.gate.Hold(ctx, controlPlane); err != nil || added {
		return nil, nil, err
	}
	written, err := r.reporter.Begin(ctx, cluster, controlPlane)
	return cluster, written, err
}

// prepare sets up watches and what must stand before Machines are made.
func (r *Reconciler) prepare(ctx context.Context, s *scope) error {
	return errors.Join(r.watchInfrastructure(ctx, s), r.ensureFoundation(ctx, s))
}

// carryOut brings the Machines' metadata up to date and then carries out the decision, unless that fails or what was
// observed proves to be out of date. An effect that fails is tried again with backoff, and at once when the spec changes.
func (r *Reconciler) carryOut(ctx context.Context, s *scope, next plan.Decision) error {
	if err := r.try(s, "propagate", func() error { return r.propagate(ctx, s) }); err != nil {
		return err
	}
	return r.try(s, fmt.Sprintf("%s %s %x", next.Action, next.Machine, next.Etcd.Leaving.ID), func() error { return r.apply(ctx, s, next) })
}

// follow does what the status does not wait for: the conditions of the Machines, and what belongs in the workload cluster.
func (r *Reconciler) follow(ctx context.Context, s *scope, result outcome) error {
	if result.next.Action == plan.ActionFinish {
		return nil
	}
	return errors.Join(
		r.setMachineConditions(ctx, s, result),
		r.watchWorkload(ctx, s),
		r.try(s, "keep tokens", func() error { return r.keepTokens(ctx, s) }),
		r.try(s, "lead", func() error { return r.takeLeadership(ctx, s) }),
		r.try(s, "steer", func() error { return r.steerPods(ctx, s, result.state) }),
		r.try(s, "settle", func() error { return r.settle(ctx, s, result.next) }),
	)
}

func (r *Reconciler) try(s *scope, effect string, do func() error) error {
	return s.memory.failed.run(fmt.Sprintf("%s %d", effect, s.controlPlane.Generation), s.now, do)
}

// conclude makes the event of what was done, and says when to look again. What failed before and was not tried again is no news.
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

// requeue says when to look again though nothing is reported to have changed.
func (s *scope) requeue(result outcome) ctrl.Result {
	switch {
	case s.deleting():
		return ctrl.Result{}
	case result.failure == nil && (s.newlyInitialized || result.next.Action == plan.ActionRemoveMember):
		// No watch reports either.
		return ctrl.Result{RequeueAfter: staleInterval}
	case awaited(s) != nil:
		return ctrl.Result{RequeueAfter: awaitInterval(s.now.Sub(awaited(s).CreationTimestamp.Time))}
	case s.unwatched() || s.initialized && (s.observation == nil || result.state.Unhealthy()):
		return ctrl.Result{RequeueAfter: s.unsettledInterval(result.next)}
	}
	return s.requeueBy(s.nextDue(), s.requeueBy(result.next.Recheck, ctrl.Result{}))
}

// requeueBy has the control plane looked at again by then, or earlier if the result says so. A time that is past is none.
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

// unsettledInterval is longer where the next thing to happen is that a Machine goes, or that its Node or its Pods come up, which
// a watch tells.
func (s *scope) unsettledInterval(next plan.Decision) time.Duration {
	if s.watching && (next.Reason == plan.ReasonMachinesNotHealthy || next.Reason == plan.ReasonWaitingForMachineDeletion) {
		return watchedInterval
	}
	return unsettledInterval
}

// unwatched says whether something is missing whose arrival no watch reports.
func (s *scope) unwatched() bool {
	return s.infraMissing || s.template == nil || s.foundation.certificates != nil || s.kubeconfigUnusable()
}
