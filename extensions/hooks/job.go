// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// Job is what a call of a hook requests.
type Job struct {
	// Cluster that the hook was called for, as it is now.
	Cluster *clusterv1.Cluster
	// Hook is the name of the hook, for example BeforeControlPlaneUpgrade.
	Hook string
	// From and To are the versions before and after the step that the hook is about. They are
	// empty for hooks without them.
	From, To string
	// Plan holds the versions that the upgrade passes through, including the last one. It is
	// empty for hooks without a plan.
	Plan []string
	// Config is the name of the ExtensionConfig.
	Config string
	// Settings are the current settings of the ExtensionConfig. They hold no secrets.
	Settings Settings
	// Attempt counts how often the work was requested.
	Attempt int32
	// Since is when the hook was first called for this attempt, when the deletion of the Cluster began, or
	// when the task before ended, whichever is latest.
	// Timeouts count from it, so that a restart does not extend them.
	Since time.Time
	// Now is when this run began. Tasks need no other clock.
	Now time.Time
}

// Key returns the name and namespace of the job's Cluster.
func (j Job) Key() client.ObjectKey { return client.ObjectKeyFromObject(j.Cluster) }

// Left returns how much is left of the time that was given for a task. It is not positive once the
// time is over.
func (j Job) Left(given time.Duration) time.Duration { return j.Since.Add(given).Sub(j.Now) }

// Outcome is the progress of a job.
type Outcome struct {
	// Done means that nothing remains to be done. The hook then never blocks again.
	Done bool
	// Message describes what the job waits for, or how it ended. Users see it in a condition of
	// the Cluster, so the same state must give the same message: no times, no retry counters, a
	// stable order, and never a secret.
	Message string
	// Report describes what was found, in several lines, for readers of the job. It may be
	// empty.
	Report string
	// RetryAfter is when to look again at a job that is not done. Zero means 5 seconds.
	RetryAfter time.Duration
	// Incomplete means that the job is done without what the settings ask for. Users are warned.
	Incomplete bool
	// Last means that the tasks after this one are not run, because they need its result.
	Last bool
	// RestartsTimeouts means that the timeouts of the tasks after this one count from when this one was done.
	// If it is no longer done for a while, they start again. Before a deletion, they always count so.
	RestartsTimeouts bool
	// SnapshotTime is when an etcd snapshot was taken. It is zero if none was taken.
	SnapshotTime time.Time

	// asked are the settings that ask for the tasks of the job.
	asked []string
	// resting means that the job does not hold its Cluster, since nobody asks for it now.
	resting bool
	// ended are the tasks of the attempt whose end is recorded.
	ended []extensionv1.HookJobTask
}

// restBecause returns the outcome of a job that nobody asks for now.
func restBecause(format string, arguments ...any) *Outcome {
	return &Outcome{Message: "nothing is done: " + fmt.Sprintf(format, arguments...), resting: true}
}

// isResting reports whether a job did nothing when it was last looked at.
func isResting(job *extensionv1.HookJob) bool {
	return conditions.GetReason(job, extensionv1.HookJobCompletedCondition) == extensionv1.HookJobRestingReason
}

// Task is a part of the work of a hook.
type Task struct {
	// Setting is the name of the setting that asks for the task. A job has one task of each name.
	Setting string
	// Run does what can be done now and returns the progress. It is called again until the job
	// is done, also after a restart, and with other settings if these changed. So it must find
	// what was done before instead of repeating it. An error is shown like the Message of a
	// waiting job, so the same rules apply to it. Run is then retried after a backoff of at
	// most 15 seconds. Once the context has ended, the outcome does not count. Run must be safe for
	// concurrent use for different Clusters. Jobs of the same Cluster run one after the other.
	Run func(ctx context.Context, job Job) (Outcome, error)
}

// Tasks are the tasks of each hook in their order, by the name of the hook. Each begins once the
// previous ones are done. Until the whole job is done, those that are done run again. Before a deletion, they
// do not: what they did could not be done or found again later.
type Tasks map[string][]Task

// wanted returns the tasks of a hook that the settings ask for.
func (t Tasks) wanted(hook string, settings Settings) []Task {
	return slices.DeleteFunc(slices.Clone(t[hook]), func(task Task) bool { return !settings.asksFor(task.Setting) })
}

// settingsOf returns the settings that ask for tasks.
func settingsOf(tasks []Task) []string {
	settings := make([]string, 0, len(tasks))
	for _, task := range tasks {
		settings = append(settings, task.Setting)
	}
	return settings
}

// run runs the tasks that the settings ask for and that must still run, until one of them is not done,
// or its end must be recorded. If it fails, the outcome has what is done so far.
func (t Tasks) run(ctx context.Context, job Job, ended []extensionv1.HookJobTask, others others) (Outcome, error) {
	whole := Outcome{ended: slices.Clip(ended)}
	wanted := t.wanted(job.Hook, job.Settings)
	for i, task := range wanted {
		outcome, since, err := t.look(ctx, task, job, ended, others)
		if err != nil {
			return whole, err
		}
		whole.add(outcome)
		if !outcome.Done {
			whole.ended = slices.DeleteFunc(slices.Clone(whole.ended), func(one extensionv1.HookJobTask) bool { return one.Setting == task.Setting })
			whole.Message, whole.RetryAfter = outcome.Message, outcome.RetryAfter
			return whole, nil
		}
		if outcome.Last {
			break
		}
		// Before a deletion, jobs of other ExtensionConfigs wait for the record of this end.
		if (outcome.RestartsTimeouts || job.Hook == BeforeClusterDelete) && since.IsZero() {
			since = metav1.NewTime(job.Now).Rfc3339Copy() // what is stored
			whole.ended = append(whole.ended, recordOf(task.Setting, outcome, since))
			if i < len(wanted)-1 {
				// The next task may destroy what shows that this one has ended.
				whole.RetryAfter = time.Millisecond
				return whole, nil
			}
		}
		if since.After(job.Since) { // An earlier attempt may have recorded it.
			job.Since = since.Time
		}
	}
	whole.Done = true
	return whole, nil
}

// add adds what a task says to the outcome of its job.
func (o *Outcome) add(task Outcome) {
	o.Message, o.Report = join("; ", o.Message, task.Message), join("\n", o.Report, strings.TrimRight(task.Report, "\n"))
	o.Incomplete = o.Incomplete || task.Incomplete
	o.SnapshotTime = cmp.Or(o.SnapshotTime, task.SnapshotTime)
}

// join joins texts that are not empty.
func join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// look runs a task, unless it waits for others or, for BeforeClusterDelete, its end is recorded. It also returns
// when the end was recorded.
func (t Tasks) look(ctx context.Context, task Task, job Job, ended []extensionv1.HookJobTask, others others) (outcome Outcome, since metav1.Time, err error) {
	outcome, since, known := endedAs(ended, task.Setting)
	if known && job.Hook == BeforeClusterDelete {
		return outcome, since, nil
	}
	held, othersEnded := others.before(t.earlier(job.Hook, task))
	if held != nil {
		return *held, since, nil
	}
	if othersEnded.After(job.Since) {
		job.Since = othersEnded
	}
	outcome, err = task.Run(ctx, job)
	if ctx.Err() != nil { // The extension stops. That says nothing about the cluster.
		return Outcome{}, since, ctx.Err()
	}
	return outcome, since, err
}

// earlier returns the settings of the tasks that come before one.
func (t Tasks) earlier(hook string, task Task) []string {
	settings := settingsOf(t[hook])
	return settings[:slices.Index(settings, task.Setting)]
}

// endedAs returns the outcome of a task that has ended, and when.
func endedAs(ended []extensionv1.HookJobTask, setting string) (outcome Outcome, since metav1.Time, known bool) {
	for _, one := range ended {
		if one.Setting == setting {
			return Outcome{Done: true, Incomplete: one.Reason == extensionv1.HookJobIncompleteReason, Message: one.Message, Report: one.Report}, one.EndTime, true
		}
	}
	return Outcome{}, metav1.Time{}, false
}

// recordOf returns the record of a task that has ended.
func recordOf(setting string, outcome Outcome, since metav1.Time) extensionv1.HookJobTask {
	return extensionv1.HookJobTask{
		Setting: setting, EndTime: since, Reason: outcome.reason(),
		Message: shorten(outcome.Message, longestMessage), Report: shorten(outcome.Report, longestReport),
	}
}

// reason returns the reason of a job or task that is done.
func (o Outcome) reason() string {
	if o.Incomplete {
		return extensionv1.HookJobIncompleteReason
	}
	return extensionv1.HookJobCompletedReason
}

// Clusters is how tasks reach the management cluster and workload clusters. No client has a cache.
type Clusters struct {
	// Client reads and writes the management cluster.
	Client client.Client
	// Workload returns a client for a workload cluster, created from the kubeconfig Secret. It knows the
	// kinds of Kubernetes, and finds others, even those that were defined after it was created.
	Workload func(ctx context.Context, cluster client.ObjectKey) (client.Client, error)
	// Config returns how to connect to the API server of a workload cluster, for what is not an object.
	Config func(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error)
}

// NeverInitialized reports whether the control plane of a Cluster was never initialized, so that
// there is nothing in it to lose. A move or a restore loses the status, but Cluster API also records
// the pending hook AfterControlPlaneInitialized before it creates a control plane.
func NeverInitialized(cluster *clusterv1.Cluster) bool {
	if ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false) {
		return false
	}
	pending := strings.Split(cluster.Annotations[runtimev1.PendingHooksAnnotation], ",")
	return !cluster.Spec.ControlPlaneRef.IsDefined() || slices.Contains(pending, AfterControlPlaneInitialized)
}

// SkipAnnotation on a Cluster lists hooks, separated by commas, that no longer block and do nothing
// more. It is the way out if what a hook waits for will never happen. Users set and remove it.
const SkipAnnotation = "foo.cluster.x-k8s.io/skip-hooks"

// skippedHooks returns the names in the skip annotation of a Cluster, including those that are not
// hooks.
func skippedHooks(cluster *clusterv1.Cluster) []string {
	var names []string
	for name := range strings.SplitSeq(cluster.Annotations[SkipAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Skips reports whether the skip annotation of a Cluster names a hook, and returns a message that
// says so.
func Skips(cluster *clusterv1.Cluster, hook string) (string, bool) {
	if !slices.Contains(skippedHooks(cluster), hook) {
		return "", false
	}
	return fmt.Sprintf("skipped: the annotation %s names %s", SkipAnnotation, hook), true
}

// action is what happens to an unfinished job, given the current state of its Cluster. Cluster API
// need not call a hook again to withdraw its request.
type action struct {
	// due means that the tasks of the job must run now.
	due bool
	// note is recorded if the job is not due. If it is nil, the record stays as it is.
	note *Outcome
}

// actionFor returns what happens to a job. It leaves the job alone if the Cluster is paused,
// for example during a move, or if it is another Cluster with the same name.
//
// Anybody who reaches the server may call a hook, and anybody who may write jobs may record one.
// Neither must be enough to destroy something that is in use.
func actionFor(job *extensionv1.HookJob, cluster *clusterv1.Cluster) action {
	spec, moved := job.Spec, cluster.UID != job.Spec.ClusterUID
	if moved && !Owns(cluster, job) || annotations.IsPaused(cluster, cluster) {
		return action{}
	}
	// The Cluster was moved here with its jobs: clusterctl updates the UIDs of owners, and
	// nothing else. Only AfterControlPlaneInitialized is not called again.
	if moved && spec.Hook != AfterControlPlaneInitialized {
		return action{note: &Outcome{Done: true, Message: "nothing is done: the Cluster was moved here, and its hooks are called again"}}
	}
	if message, ok := Skips(cluster, spec.Hook); ok {
		return action{note: &Outcome{Done: true, Message: message}}
	}
	if note := misplaced(job, cluster); note != nil {
		return action{note: note}
	}
	if note := unneeded(spec, cluster); note != nil {
		return action{note: note}
	}
	return action{due: true}
}

// misplaced returns why nothing is done for a job whose hook is only for Clusters that are being
// deleted, or only for others; nil if the hook is for this one.
func misplaced(job *extensionv1.HookJob, cluster *clusterv1.Cluster) *Outcome {
	switch deleting := !cluster.DeletionTimestamp.IsZero(); {
	case job.Spec.Hook == BeforeClusterDelete && !deleting:
		return restBecause("the Cluster is not being deleted")
	case job.Spec.Hook != BeforeClusterDelete && deleting && isResting(job):
		// Nobody asked for its work, so nobody is told that it ends.
		return restBecause("the Cluster is being deleted")
	case job.Spec.Hook != BeforeClusterDelete && deleting:
		// An add-on would recreate what the deletion removes.
		return &Outcome{Done: true, Message: "nothing is done: the Cluster is being deleted"}
	default:
		return nil
	}
}

// Owns reports whether a Cluster owns a job.
func Owns(cluster *clusterv1.Cluster, job *extensionv1.HookJob) bool {
	return slices.ContainsFunc(job.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == cluster.UID })
}
