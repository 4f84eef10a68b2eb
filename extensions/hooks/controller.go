// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

const (
	// patience is how long a waiting job is left alone if its task does not specify a time.
	patience = 5 * time.Second
	// busyWait is how long a job is left alone while another one of its Cluster runs.
	busyWait = time.Second
	// backoffBase and backoffMax bound how long a job is left alone after its task failed. The
	// job may hold a Cluster, so the next try must come soon after the cause is fixed, however
	// long that took.
	backoffBase = 100 * time.Millisecond
	backoffMax  = 15 * time.Second
	// longestReport and longestMessage are the maximum lengths of texts in bytes. Some are from workload
	// clusters, and the API server refuses a status with a longer one.
	longestReport  = 256 << 10
	longestMessage = 32 << 10
)

// Options configures the controller.
type Options struct {
	// Tasks are the tasks of each hook.
	Tasks Tasks
	// Gone is called for Clusters that are gone, so that nothing is kept for them.
	Gone func(cluster client.ObjectKey)
	// Controller holds the controller options, except the rate limiter. Its workers determine how
	// many jobs are done concurrently.
	Controller controller.Options
}

// +kubebuilder:rbac:groups=foo.cluster.x-k8s.io,resources=hookjobs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=foo.cluster.x-k8s.io,resources=hookjobs/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// SetupWithManager adds the controller that does the jobs. Of several replicas, only the leader
// runs it.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	numbers, err := registered(ctrlmetrics.Registry, mgr.GetCache())
	if err != nil {
		return err
	}
	worker := &worker{
		cached: mgr.GetCache(), live: mgr.GetAPIReader(), client: mgr.GetClient(), tasks: options.Tasks, clock: clock.RealClock{},
		recorder: mgr.GetEventRecorder(string(FieldOwner)), ended: numbers,
	}
	options.Controller.RateLimiter = rateLimiter()
	err = ctrl.NewControllerManagedBy(mgr).
		Named("hook-jobs").
		For(&extensionv1.HookJob{}, builder.WithPredicates(jobChanged())).
		// Changes of a Cluster's status are left out: a job that they end blocks nothing, or is looked at again
		// soon anyway.
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(worker.ofCluster),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(worker.ofConfig),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1.Cluster{}, handler.Funcs{DeleteFunc: func(_ context.Context, deleted event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			options.Gone(client.ObjectKeyFromObject(deleted.Object))
		}}).
		WithOptions(options.Controller).
		Complete(worker)
	if err != nil {
		return fmt.Errorf("controller of HookJobs: %w", err)
	}
	return nil
}

func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffBase, backoffMax)
}

// jobChanged passes jobs that ask for something else, and those that are no longer completed because
// somebody changed their status.
func jobChanged() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		before, ok := update.ObjectOld.(*extensionv1.HookJob)
		after, also := update.ObjectNew.(*extensionv1.HookJob)
		return ok && also && before.IsCompleted() && !after.IsCompleted()
	}})
}

// worker does jobs.
type worker struct {
	cached client.Reader
	// live reads from the API server, bypassing the cache.
	live   client.Reader
	client client.Client
	tasks  Tasks
	clock  clock.PassiveClock

	// busy are the Clusters that a job is being done for. Jobs that run at the same time could undo
	// each other's work.
	busy sync.Map

	recorder events.EventRecorder
	// ended counts the jobs that are completed, by hook and by result.
	ended *prometheus.CounterVec
}

// ofCluster returns the jobs of a Cluster that are not completed.
func (w *worker) ofCluster(ctx context.Context, cluster client.Object) []reconcile.Request {
	return w.waiting(ctx, func(job *extensionv1.HookJob) bool { return job.Spec.ClusterName == cluster.GetName() }, client.InNamespace(cluster.GetNamespace()))
}

// ofConfig returns the jobs with the settings of an ExtensionConfig that are not completed.
func (w *worker) ofConfig(ctx context.Context, config client.Object) []reconcile.Request {
	return w.waiting(ctx, func(job *extensionv1.HookJob) bool { return job.Spec.ExtensionConfig == config.GetName() })
}

// waiting returns the jobs that are not completed and that the options and the filter select.
func (w *worker) waiting(ctx context.Context, filter func(*extensionv1.HookJob) bool, options ...client.ListOption) []reconcile.Request {
	var jobs extensionv1.HookJobList
	if err := w.cached.List(ctx, &jobs, options...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list HookJobs")
		return nil
	}
	var requests []reconcile.Request
	for i := range jobs.Items {
		if job := &jobs.Items[i]; !job.IsCompleted() && filter(job) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(job)})
		}
	}
	return requests
}

// Reconcile does what can be done now for one job, and records its progress.
func (w *worker) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var known *extensionv1.HookJob
	for _, reader := range []client.Reader{w.cached, w.live} { // The cache may be stale; do not redo a completed job.
		known = &extensionv1.HookJob{}
		if err := reader.Get(ctx, request.NamespacedName, known); err != nil || known.IsCompleted() {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	key, cluster := client.ObjectKey{Namespace: known.Namespace, Name: known.Spec.ClusterName}, &clusterv1.Cluster{}
	if _, busy := w.busy.LoadOrStore(key, true); busy {
		return reconcile.Result{RequeueAfter: busyWait}, nil
	}
	defer w.busy.Delete(key)
	// A cache may not have seen yet that the Cluster is being deleted, or was paused.
	if err := w.live.Get(ctx, key, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if next := actionFor(known, cluster); !next.due {
		if next.note == nil {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, w.note(ctx, known, cluster, *next.note)
	}
	return w.do(ctx, known, cluster)
}

// do runs the tasks of a job, and records its progress.
func (w *worker) do(ctx context.Context, known *extensionv1.HookJob, cluster *clusterv1.Cluster) (reconcile.Result, error) {
	outcome, runErr := w.run(ctx, known, cluster)
	if runErr != nil {
		outcome.Message = Message(runErr)
	}
	if err := errors.Join(runErr, w.note(ctx, known, cluster, outcome)); err != nil {
		return reconcile.Result{}, err
	}
	if outcome.Done || outcome.resting { // A change of the settings, the Cluster or the job wakes it.
		return reconcile.Result{}, nil
	}
	if outcome.RetryAfter <= 0 {
		outcome.RetryAfter = patience
	}
	return reconcile.Result{RequeueAfter: outcome.RetryAfter}, nil
}

func (w *worker) run(ctx context.Context, known *extensionv1.HookJob, cluster *clusterv1.Cluster) (Outcome, error) {
	spec := known.Spec
	settings, rest, err := w.settings(ctx, spec)
	if err != nil {
		return Outcome{}, err
	}
	if rest != nil {
		return *rest, nil
	}
	wanted := w.tasks.wanted(spec.Hook, settings)
	if len(wanted) == 0 {
		// The hook does not block. But Cluster API may not call it again, so the work must
		// still be done once the settings ask for it.
		return *restBecause("the settings do not ask for it"), nil
	}
	others, err := w.others(ctx, known, cluster)
	if err != nil {
		return Outcome{}, err
	}
	log := ctrl.LoggerFrom(ctx).WithValues("Cluster", klog.KObj(cluster), "hook", spec.Hook)
	outcome, err := w.tasks.run(ctrl.LoggerInto(ctx, log), Job{
		Cluster: cluster, Hook: spec.Hook, From: spec.FromVersion, To: spec.ToVersion, Plan: spec.Plan,
		Config: spec.ExtensionConfig, Settings: settings, Attempt: spec.Attempt, Since: beginning(spec, cluster), Now: w.clock.Now(),
	}, endedTasks(known), others)
	outcome.asked = settingsOf(wanted)
	if err == nil && outcome.Done {
		log.Info("Completed the job of a hook", "result", outcome.Message)
	}
	return outcome, err
}

// settings returns the settings of a job, or why it does nothing until its ExtensionConfig changes.
func (w *worker) settings(ctx context.Context, spec extensionv1.HookJobSpec) (Settings, *Outcome, error) {
	config := &runtimev1.ExtensionConfig{}
	err := w.cached.Get(ctx, client.ObjectKey{Name: spec.ExtensionConfig}, config)
	if apierrors.IsNotFound(err) || err == nil && isLeaving(config) {
		return Settings{}, restBecause("there is no ExtensionConfig %q", spec.ExtensionConfig), nil
	}
	if err != nil {
		return Settings{}, nil, fmt.Errorf("reading the ExtensionConfig: %w", err)
	}
	settings, err := ParseSettings(config.Spec.Settings)
	if err != nil && spec.Hook == AfterControlPlaneInitialized {
		// They may be for another vendor's extension, so nobody would ever correct them. The job holds nothing.
		return Settings{}, restBecause("%s", Message(err)), nil
	}
	return settings, nil, err
}

// beginning returns when the timeouts of a job begin to count. Anybody who reaches the server may call
// BeforeClusterDelete long before a deletion, which would then have no time left for its tasks.
func beginning(spec extensionv1.HookJobSpec, cluster *clusterv1.Cluster) time.Time {
	if spec.RequestTime.Before(cluster.DeletionTimestamp) {
		return cluster.DeletionTimestamp.Time
	}
	return spec.RequestTime.Time
}

// endedTasks returns the tasks of the current attempt whose end is recorded. For BeforeClusterDelete, it also
// returns those of earlier attempts: a second snapshot would not have what has been deleted since.
func endedTasks(known *extensionv1.HookJob) []extensionv1.HookJobTask {
	if known.Status.Attempt != known.Spec.Attempt && known.Spec.Hook != BeforeClusterDelete {
		return nil
	}
	return known.Status.Ended
}

// note records the progress of a job, and emits events about it. It writes nothing if nothing
// changed.
func (w *worker) note(ctx context.Context, known *extensionv1.HookJob, cluster *clusterv1.Cluster, outcome Outcome) error {
	changed := known.DeepCopy()
	changed.Status = statusOf(known, outcome, w.clock.Now())
	if equality.Semantic.DeepEqual(changed.Status, known.Status) {
		return nil
	}
	// A stale copy of a job must not overwrite the result of a newer attempt.
	patch := client.MergeFromWithOptions(known, client.MergeFromWithOptimisticLock{})
	if err := w.client.Status().Patch(ctx, changed, patch, FieldOwner); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("recording the progress of the HookJob: %w", err)
	}
	w.announce(known, changed, cluster)
	return nil
}

func shorten(text string, longest int) string {
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
}

// statusOf returns the status of a job with an outcome.
func statusOf(known *extensionv1.HookJob, outcome Outcome, now time.Time) extensionv1.HookJobStatus {
	status := known.DeepCopy().Status
	status.Ended, status.Tasks = endedTasks(known), outcome.asked
	if outcome.ended != nil {
		status.Ended = outcome.ended
	}
	condition := metav1.Condition{
		Type: extensionv1.HookJobCompletedCondition, Status: metav1.ConditionFalse, Reason: extensionv1.HookJobWaitingReason,
		Message: shorten(outcome.Message, longestMessage), ObservedGeneration: known.Generation,
	}
	status.Attempt, status.CompletionTime, status.Report = known.Spec.Attempt, metav1.Time{}, shorten(outcome.Report, longestReport)
	switch {
	case outcome.Done:
		condition.Status, condition.Reason = metav1.ConditionTrue, outcome.reason()
		status.CompletionTime = metav1.NewTime(now)
	case outcome.resting:
		condition.Reason = extensionv1.HookJobRestingReason
	}
	if !outcome.SnapshotTime.IsZero() {
		status.SnapshotTime = metav1.NewTime(outcome.SnapshotTime)
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	return status
}

// announce emits an event on a job and on its Cluster if the job waits for something else than
// before, or is completed, and counts the latter. The Cluster's event outlives the job.
func (w *worker) announce(before, after *extensionv1.HookJob, cluster *clusterv1.Cluster) {
	condition := conditions.Get(after, extensionv1.HookJobCompletedCondition)
	if after.IsCompleted() {
		w.ended.WithLabelValues(after.Spec.Hook, condition.Reason).Inc()
	}
	if condition.Reason == extensionv1.HookJobRestingReason || condition.Message == messageOf(before) && after.IsCompleted() == before.IsCompleted() {
		return
	}
	kind := corev1.EventTypeNormal
	if condition.Reason == extensionv1.HookJobIncompleteReason {
		kind = corev1.EventTypeWarning
	}
	note := Line(after.Spec.Hook+": "+condition.Message, maxLength)
	for object, related := range map[runtime.Object]runtime.Object{cluster: after, after: cluster} {
		w.recorder.Eventf(object, related, kind, "Hook"+condition.Reason, after.Spec.Hook, "%s", note)
	}
}
