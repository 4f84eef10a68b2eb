// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// patience is how long a waiting job is left alone if its task does not specify a time.
	patience = 5 * time.Second
	// backoffBase and backoffMax bound how long a job is left alone after its task failed. The
	// job may hold a Cluster, so the next try must come soon after the cause is fixed, however
	// long that took.
	backoffBase = 100 * time.Millisecond
	backoffMax  = 15 * time.Second
)

// Options configures the controller.
type Options struct {
	// Tasks are the tasks of each hook.
	Tasks Tasks
	// Gone is called for Clusters that are gone, so that nothing is kept for them.
	Gone func(cluster client.ObjectKey)
	// Controller holds the controller options. Its workers determine how many jobs are done
	// concurrently. If it has no rate limiter, it gets one with a maximum backoff of 15
	// seconds.
	Controller controller.Options
}

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// SetupWithManager adds the controller that does the jobs. Of several replicas, only the leader
// runs it.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	worker := &worker{cached: mgr.GetCache(), client: mgr.GetClient(), tasks: options.Tasks}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = rateLimiter()
	}
	log := ctrl.LoggerFrom(ctx)
	jobs := predicate.And(
		predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetLabels()[HookLabel] != "" }),
		predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool { return changed(update.ObjectOld, update.ObjectNew) }},
	)
	err := ctrl.NewControllerManagedBy(mgr).
		Named("hook-jobs").
		For(&corev1.ConfigMap{}, builder.WithPredicates(jobs)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(worker.ofCluster),
			builder.WithPredicates(predicate.Or[client.Object](predicates.ClusterUnpaused(mgr.GetScheme(), log), clusterChanged()))).
		Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(worker.ofConfig),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1.Cluster{}, handler.Funcs{DeleteFunc: func(_ context.Context, deleted event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			options.Gone(client.ObjectKeyFromObject(deleted.Object))
		}}).
		WithOptions(options.Controller).
		Complete(worker)
	if err != nil {
		return fmt.Errorf("controller of hook jobs: %w", err)
	}
	return nil
}

func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffBase, backoffMax)
}

// clusterChanged passes Clusters that have changed in a way that requires a new verdict on their
// jobs.
func clusterChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(update event.UpdateEvent) bool {
			before, ok := update.ObjectOld.(*clusterv1.Cluster)
			after, also := update.ObjectNew.(*clusterv1.Cluster)
			return ok && also && judgedAnew(before, after)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// changed reports whether anything changed except the progress of the job, which is written here.
func changed(before, after client.Object) bool {
	one, ok := before.(*corev1.ConfigMap)
	other, also := after.(*corev1.ConfigMap)
	if !ok || !also {
		return true
	}
	asked := func(record *corev1.ConfigMap) map[string]string {
		data := maps.Clone(record.Data)
		maps.DeleteFunc(data, func(key, _ string) bool { return key == StateKey || key == MessageKey || key == ReportKey })
		return data
	}
	return !maps.Equal(asked(one), asked(other)) || !maps.Equal(one.Labels, other.Labels)
}

// worker does jobs.
type worker struct {
	cached client.Reader
	// client reads jobs from the API server, bypassing the cache.
	client client.Client
	tasks  Tasks
}

// ofCluster returns the unfinished jobs of a Cluster.
func (w *worker) ofCluster(ctx context.Context, cluster client.Object) []reconcile.Request {
	return w.waiting(ctx, func(*corev1.ConfigMap) bool { return true },
		client.InNamespace(cluster.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.GetName()})
}

// ofConfig returns the unfinished jobs that use the settings of an ExtensionConfig.
func (w *worker) ofConfig(ctx context.Context, config client.Object) []reconcile.Request {
	return w.waiting(ctx, func(record *corev1.ConfigMap) bool { return record.Data[configKey] == config.GetName() })
}

// waiting returns the jobs that are not done and that the options and the filter select.
func (w *worker) waiting(ctx context.Context, filter func(*corev1.ConfigMap) bool, options ...client.ListOption) []reconcile.Request {
	var records corev1.ConfigMapList
	if err := w.cached.List(ctx, &records, append(options, client.HasLabels{HookLabel})...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list hook jobs")
		return nil
	}
	var requests []reconcile.Request
	for i := range records.Items {
		record := &records.Items[i]
		if State(record.Data[StateKey]) != Done && filter(record) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(record)})
		}
	}
	return requests
}

// Reconcile does what can be done now for one job, and records its progress.
func (w *worker) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var known *corev1.ConfigMap
	for _, reader := range []client.Reader{w.cached, w.client} { // The cache may be stale; do not redo a finished job.
		known = &corev1.ConfigMap{}
		if err := reader.Get(ctx, request.NamespacedName, known); err != nil || State(known.Data[StateKey]) == Done {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	recorded, err := read(known)
	if err != nil {
		// Nothing here can repair what somebody wrote into it. Repairing or deleting it
		// triggers a reconcile.
		return reconcile.Result{}, w.note(ctx, known, Outcome{Message: err.Error()})
	}
	cluster := &clusterv1.Cluster{}
	if err := w.cached.Get(ctx, recorded.cluster, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if verdict := judge(recorded, cluster); !verdict.due {
		return reconcile.Result{}, w.noteVerdict(ctx, known, verdict)
	}
	config := &runtimev1.ExtensionConfig{}
	err = w.cached.Get(ctx, client.ObjectKey{Name: recorded.config}, config)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, w.note(ctx, known, Outcome{Message: fmt.Sprintf("nothing is done: there is no ExtensionConfig %q", recorded.config)})
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading the ExtensionConfig: %w", err)
	}
	job := Job{Cluster: cluster, Hook: recorded.hook, From: recorded.from, To: recorded.to, Plan: recorded.plan, Since: recorded.since}
	return w.do(ctx, known, job, config)
}

// do runs the tasks of a job, and records its progress.
func (w *worker) do(ctx context.Context, known *corev1.ConfigMap, job Job, config *runtimev1.ExtensionConfig) (reconcile.Result, error) {
	outcome, runErr := w.run(ctx, job, config)
	if runErr != nil {
		outcome = Outcome{Message: Message(runErr)}
	}
	if err := errors.Join(runErr, w.note(ctx, known, outcome)); err != nil {
		return reconcile.Result{}, err
	}
	if outcome.Done {
		return reconcile.Result{}, nil
	}
	if outcome.RetryAfter <= 0 {
		outcome.RetryAfter = patience
	}
	return reconcile.Result{RequeueAfter: outcome.RetryAfter}, nil
}

func (w *worker) run(ctx context.Context, job Job, config *runtimev1.ExtensionConfig) (Outcome, error) {
	var err error
	if job.Settings, err = ParseSettings(config.Spec.Settings); err != nil {
		return Outcome{}, err
	}
	if len(w.tasks.wanted(job.Hook, job.Settings)) == 0 {
		return Outcome{Done: true, Message: "nothing is done: the settings no longer ask for it"}, nil
	}
	log := ctrl.LoggerFrom(ctx).WithValues("Cluster", klog.KObj(job.Cluster), "hook", job.Hook)
	outcome, err := w.tasks.run(ctrl.LoggerInto(ctx, log), job)
	if err != nil {
		return Outcome{}, err
	}
	if outcome.Done {
		log.Info("Finished the job of a hook", "result", outcome.Message)
	}
	return outcome, nil
}

func (w *worker) noteVerdict(ctx context.Context, known *corev1.ConfigMap, verdict verdict) error {
	if verdict.note == nil {
		return nil
	}
	return w.note(ctx, known, *verdict.note)
}

// note records the progress of a job. It writes nothing if nothing changed.
func (w *worker) note(ctx context.Context, known *corev1.ConfigMap, outcome Outcome) error {
	changed := known.DeepCopy()
	state := Waiting
	if outcome.Done {
		state = Done
	}
	wrote := false
	for key, value := range map[string]string{StateKey: string(state), MessageKey: outcome.Message, ReportKey: outcome.Report} {
		if changed.Data[key] == value {
			continue
		}
		if changed.Data == nil {
			changed.Data = map[string]string{}
		}
		changed.Data[key] = value
		wrote = true
	}
	if !wrote {
		return nil
	}
	if err := w.client.Patch(ctx, changed, client.MergeFrom(known), FieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording the progress of the job of a hook: %w", err)
	}
	return nil
}
