// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// management returns a client of a management cluster with the objects.
func management(g Gomega, objects ...client.Object) client.Client {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, extensionv1.AddToScheme, clusterv1.AddToScheme, runtimev1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&extensionv1.HookJob{}).WithObjects(objects...).Build()
}

func registration(name string, settings map[string]string) *runtimev1.ExtensionConfig {
	return &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtimev1.ExtensionConfigSpec{Settings: settings}}
}

// handling gives an ExtensionConfig discovered handlers for hooks.
func handling(config *runtimev1.ExtensionConfig, hooks ...string) *runtimev1.ExtensionConfig {
	for _, hook := range hooks {
		config.Status.Handlers = append(config.Status.Handlers, runtimev1.ExtensionHandler{
			Name: hook + "." + config.Name, RequestHook: runtimev1.GroupVersionHook{APIVersion: runtimehooksv1.GroupVersion.String(), Hook: hook},
		})
	}
	return config
}

// scripted is a task that ends as the test wants, and records the jobs that it gets.
type scripted struct {
	setting string
	outcome Outcome
	err     error
	jobs    []Job
}

// succeeding is a task that is done at once.
func succeeding() *scripted {
	return &scripted{setting: "smokeChecks", outcome: Outcome{Done: true, Message: "done"}}
}

func (s *scripted) task() Task {
	return Task{Setting: s.setting, Run: func(_ context.Context, job Job) (Outcome, error) {
		s.jobs = append(s.jobs, job)
		return s.outcome, s.err
	}}
}

// upgradeOf returns a call of BeforeControlPlaneUpgrade for a Cluster.
func upgradeOf(cluster *clusterv1.Cluster) call {
	return call{cluster: cluster, hook: BeforeControlPlaneUpgrade, from: "v1.35.4", to: "v1.36.3"}
}

var cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}}

// newWorker returns a worker that reads from one client and writes with another.
func newWorker(cached, live client.Client, tasks Tasks) *worker {
	return &worker{
		cached: cached, live: live, client: live, tasks: tasks, clock: clock.RealClock{}, recorder: &events.FakeRecorder{},
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ended"}, []string{"hook", "result"}),
	}
}

func reconcileJob(g Gomega, worker *worker, job *extensionv1.HookJob) {
	_, err := worker.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestAJobIsDoneWithTheSettingsOfItsExtensionConfig(t *testing.T) {
	for config, want := range map[string]struct {
		timeouts []time.Duration
		message  string
	}{
		"foo":    {[]time.Duration{time.Minute}, "done"},
		"theirs": {nil, `nothing is done: there is no ExtensionConfig "theirs"`},
	} {
		t.Run(config, func(t *testing.T) {
			g := NewWithT(t)
			made, task := newJob(upgradeOf(cluster), config, time.Now()), succeeding()
			live := management(g, cluster, made, registration("foo", map[string]string{"smokeChecks": "Enabled", "smokeChecksTimeout": "1m"}))
			reconcileJob(g, newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}}), made)
			var timeouts []time.Duration
			for _, job := range task.jobs {
				timeouts = append(timeouts, job.Settings.SmokeChecksTimeout)
			}
			g.Expect(timeouts).To(Equal(want.timeouts))
			g.Expect(live.Get(context.Background(), client.ObjectKeyFromObject(made), made)).To(Succeed())
			g.Expect(messageOf(made)).To(Equal(want.message))
		})
	}
}

func TestAJobThatLostItsStatusIsDoneAgain(t *testing.T) {
	g := NewWithT(t)
	lost := newJob(upgradeOf(cluster), "foo", time.Now())
	completed := lost.DeepCopy()
	completed.Status = statusOf(lost, Outcome{Done: true}, time.Now())
	passes := func(before, after *extensionv1.HookJob) bool {
		return jobChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(passes(completed, lost)).To(BeTrue())
	g.Expect(passes(lost, completed)).To(BeFalse(), "the controller did that itself")
	g.Expect(passes(completed, completed)).To(BeFalse())
}

// A replica with a stale cache must not do a completed job again.
func TestNoJobIsDoneTwice(t *testing.T) {
	g := NewWithT(t)
	made, task := newJob(upgradeOf(cluster), "foo", time.Now()), succeeding()
	objects := []client.Object{cluster, made, registration("foo", map[string]string{"smokeChecks": "Enabled"})}
	behind, live := management(g, objects...), management(g, objects...)
	for range 2 {
		reconcileJob(g, newWorker(behind, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}}), made)
	}
	g.Expect(task.jobs).To(HaveLen(1))
}

// A cache may not have seen yet that a Cluster was paused, or is being deleted.
func TestNoJobIsDoneForWhatAClusterNoLongerIs(t *testing.T) {
	g := NewWithT(t)
	made, task, config := newJob(upgradeOf(cluster), "foo", time.Now()), succeeding(), registration("foo", map[string]string{"smokeChecks": "Enabled"})
	paused := cluster.DeepCopy()
	paused.Spec.Paused = ptr.To(true)
	reconcileJob(g, newWorker(management(g, cluster, made, config), management(g, paused, made, config), Tasks{BeforeControlPlaneUpgrade: {task.task()}}), made)
	g.Expect(task.jobs).To(BeEmpty())
}

// A pass of add-ons that began before they were changed must not undo what another job has applied
// since, and none may be under way when a deletion cleans up.
func TestJobsOfAClusterRunOneAfterTheOther(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	runs, end := make(chan struct{}, 1), make(chan struct{})
	task := Task{Setting: "smokeChecks", Run: func(context.Context, Job) (Outcome, error) {
		runs <- struct{}{}
		<-end
		return Outcome{Done: true}, nil
	}}
	other := cluster.DeepCopy()
	other.Name, other.UID = "green", "another"
	step, next, elsewhere := upgradeOf(cluster), upgradeOf(cluster), upgradeOf(other)
	next.to = "v1.37.0"
	jobs := []*extensionv1.HookJob{newJob(step, "foo", time.Now()), newJob(next, "foo", time.Now()), newJob(elsewhere, "foo", time.Now())}
	live := management(g, cluster, other, jobs[0], jobs[1], jobs[2], registration("foo", map[string]string{"smokeChecks": "Enabled"}))
	worker := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task}})
	worker.recorder = events.NewFakeRecorder(10)
	reconcile := func(job *extensionv1.HookJob) ctrl.Result {
		result, err := worker.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
		g.Expect(err).NotTo(HaveOccurred())
		return result
	}
	var running sync.WaitGroup
	running.Go(func() { reconcile(jobs[0]) })
	<-runs
	ended := make(chan ctrl.Result, 1)
	running.Go(func() { ended <- reconcile(jobs[1]) })
	g.Eventually(ended).Should(Receive(HaveField("RequeueAfter", BeNumerically(">", 0))), "it runs at the same time")
	running.Go(func() { reconcile(jobs[2]) })
	g.Eventually(runs).Should(Receive(), "other Clusters do not wait")
	close(end)
	running.Wait()
	reconcile(jobs[1])
	g.Expect(runs).To(Receive())
}

// A backup of volumes must not be looked for, or begin again, once the clean-up has deleted them.
func TestATaskThatHasEndedBeforeADeletionIsNotRunAgain(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	first := &scripted{setting: "smokeChecks", outcome: Outcome{Done: true, Message: "backed up", Report: "where", Incomplete: true}}
	second := &scripted{setting: "upgradeChecks", err: errors.New("no answer")}
	deleted := beingDeleted()
	job := newJob(call{cluster: deleted, hook: BeforeClusterDelete}, "foo", time.Unix(1000, 0))
	live := management(g, deleted, job, registration("foo", map[string]string{"smokeChecks": enabled, "upgradeChecks": enabled}))
	doing, now := newWorker(live, live, Tasks{BeforeClusterDelete: {first.task(), second.task()}}), clocktesting.NewFakePassiveClock(time.Unix(2000, 500))
	doing.recorder, doing.clock = events.NewFakeRecorder(100), now
	// A crash may follow, and the second task may destroy what shows that the first one has ended.
	result, err := doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.RequeueAfter).To(BeNumerically("~", time.Millisecond, time.Millisecond))
	g.Expect(second.jobs).To(BeEmpty(), "the end of the first task is not recorded yet")
	_, err = doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
	g.Expect(err).To(MatchError(ContainSubstring("no answer")))

	second.err, second.outcome = nil, Outcome{Message: "waits", Report: "so far"}
	now.SetTime(time.Unix(5000, 0))
	reconcileJob(g, doing, job)
	g.Expect(live.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
	g.Expect(messageOf(job)).To(Equal("waits"))
	g.Expect(job.Status.Report).To(Equal("where\nso far"))
	second.outcome = Outcome{Done: true, Message: "cleaned up"}
	reconcileJob(g, doing, job)
	g.Expect(first.jobs).To(HaveLen(1))
	g.Expect(live.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
	g.Expect(messageOf(job)).To(Equal("backed up; cleaned up"))
	g.Expect(job.Status.Report).To(Equal("where"))
	g.Expect(job.Status.Conditions).To(ContainElement(HaveField("Reason", extensionv1.HookJobIncompleteReason)))
	for _, run := range second.jobs {
		g.Expect(run.Since).To(BeTemporally("==", time.Unix(2000, 0)), "the time of a task counts from the end of the one before")
	}

	job.Spec.Attempt++
	g.Expect(live.Update(ctx, job)).To(Succeed())
	first.outcome = Outcome{Message: "again"}
	reconcileJob(g, doing, job)
	g.Expect(first.jobs).To(HaveLen(1), "not by another attempt either")
	g.Expect(live.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
	g.Expect(messageOf(job)).To(Equal("backed up; cleaned up"))
	g.Expect(job.Status.Ended).To(HaveLen(2))
}

// A task that ends because the extension stops says nothing about the cluster.
func TestATaskThatIsInterruptedIsNotDone(t *testing.T) {
	g := NewWithT(t)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	task := &scripted{setting: "smokeChecks", outcome: Outcome{Done: true, Incomplete: true, Message: "the time is over"}}
	job := Job{Hook: BeforeClusterDelete, Settings: Settings{given: map[string]string{"smokeChecks": enabled}}}
	outcome, err := Tasks{BeforeClusterDelete: {task.task()}}.run(ctx, job, nil, nil)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(outcome).To(BeZero())
}

// The correction of an add-on is applied while the smoke checks after it fail.
func TestATaskOfAnotherHookRunsAgainButKeepsItsTime(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	done := Outcome{Done: true, RestartsTimeouts: true, Message: "applied"}
	first, second := &scripted{setting: "smokeChecks", outcome: done}, &scripted{setting: "upgradeChecks", outcome: Outcome{Message: "waits"}}
	job := newJob(upgradeOf(cluster), "foo", time.Unix(1000, 0))
	live := management(g, cluster, job, registration("foo", map[string]string{"smokeChecks": enabled, "upgradeChecks": enabled}))
	doing, now := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {first.task(), second.task()}}), clocktesting.NewFakePassiveClock(time.Unix(2000, 0))
	doing.recorder, doing.clock = events.NewFakeRecorder(100), now
	look := func(second int64, outcome Outcome) {
		now.SetTime(time.Unix(second, 0))
		first.outcome = outcome
		reconcileJob(g, doing, job)
		g.Expect(live.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
	}
	look(2000, done)
	look(2000, done)
	look(3000, done)
	look(4000, Outcome{Message: "not ready"})
	g.Expect(messageOf(job)).To(Equal("not ready"))
	g.Expect(job.Status.Ended).To(BeEmpty())
	look(5000, done)
	look(5000, done)
	g.Expect(first.jobs).To(HaveLen(6))
	g.Expect(job.Status.Ended).To(HaveLen(1))
	times := []int64{}
	for _, run := range second.jobs {
		times = append(times, run.Since.Unix())
	}
	g.Expect(times).To(Equal([]int64{2000, 2000, 5000}))

	job.Spec.Attempt++
	g.Expect(live.Update(ctx, job)).To(Succeed())
	look(6000, done)
	g.Expect(first.jobs).To(HaveLen(7))
	g.Expect(job.Status.Ended).To(ConsistOf(HaveField("EndTime.Time", BeTemporally("==", time.Unix(6000, 0)))), "another attempt had nothing yet")
	look(7000, Outcome{Message: "again"})
	g.Expect(job.Status.Ended).To(BeEmpty())
}

// Cluster API calls AfterControlPlaneInitialized only once, even if the settings ask for nothing then. Jobs of
// other hooks may be from before the settings changed.
func TestSettingsThatAskForNothing(t *testing.T) {
	for _, hook := range Names() {
		t.Run(hook, func(t *testing.T) {
			g := NewWithT(t)
			ctx := context.Background()
			task, config, called := succeeding(), registration("foo", map[string]string{"smokeChecks": disabled}), cluster.DeepCopy()
			if hook == BeforeClusterDelete {
				called = beingDeleted()
			}
			live, tasks := management(g, called, config), Tasks{hook: {task.task()}}
			asked := call{cluster: called, hook: hook, settings: config.Spec.Settings}
			decided := New(live, live, tasks).decide(ctx, asked)
			g.Expect(decided.failure).To(BeFalse())
			jobs, job := &extensionv1.HookJobList{}, newJob(asked, "foo", time.Now())
			g.Expect(live.List(ctx, jobs)).To(Succeed())
			if hook == AfterControlPlaneInitialized {
				g.Expect(jobs.Items).To(HaveLen(1))
			} else {
				g.Expect(decided).To(BeZero())
				g.Expect(jobs.Items).To(BeEmpty())
				g.Expect(live.Create(ctx, job)).To(Succeed())
			}
			doing := newWorker(live, live, tasks)
			result, err := doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result).To(BeZero(), "a change of the settings wakes it")
			g.Expect(task.jobs).To(BeEmpty())
			g.Expect(live.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
			g.Expect(messageOf(job)).To(Equal("nothing is done: the settings do not ask for it"))
			g.Expect(job.IsCompleted()).To(BeFalse())

			config.Spec.Settings["smokeChecks"] = enabled
			g.Expect(live.Update(ctx, config)).To(Succeed())
			g.Expect(doing.ofConfig(ctx, config)).To(HaveLen(1))
			reconcileJob(g, doing, job)
			g.Expect(task.jobs).To(HaveLen(1))
		})
	}
}

func TestACallNeedsTheSettingsOfAnExtensionConfig(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	given := map[string]string{"smokeChecks": "Enabled"}
	leaving := registration("a-leaving", given)
	leaving.Finalizers, leaving.DeletionTimestamp = []string{metav1.FinalizerDeleteDependents}, ptr.To(metav1.Now())
	live := management(g, registration("other", given), registration("foo", given), registration("plain", nil), leaving)
	g.Expect(configsOf(ctx, live, call{cluster: cluster, settings: given})).To(Equal([]string{"foo", "other"}))
	g.Expect(configsOf(ctx, live, call{cluster: cluster})).To(Equal([]string{"plain"}))

	answers, asked := New(live, live, nil), upgradeOf(cluster)
	asked.settings = map[string]string{"smokeChecks": "Enabled", "more": "x"}
	_, err := answers.request(ctx, asked)
	g.Expect(err).To(MatchError(errUnregistered))
	jobs := &extensionv1.HookJobList{}
	g.Expect(live.List(ctx, jobs)).To(Succeed())
	g.Expect(jobs.Items).To(BeEmpty())
}

// The job of AfterControlPlaneInitialized is for settings that an ExtensionConfig may get later.
func TestACallIsOfAnExtensionConfigThatSelectsItsNamespace(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	all, other, own := registration("b-all", nil), registration("a-other", nil), registration("c-own", nil)
	all.Spec.NamespaceSelector = &metav1.LabelSelector{}
	other.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "green"}}
	own.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{"team": "blue"}}}
	asked := call{cluster: cluster, hook: AfterControlPlaneInitialized}
	g.Expect(configsOf(ctx, management(g, namespace, all, other, own), asked)).To(Equal([]string{"b-all", "c-own"}))
	g.Expect(configsOf(ctx, management(g, namespace, other, own), asked)).To(Equal([]string{"c-own"}))
	_, err := configsOf(ctx, management(g, namespace, other), asked)
	g.Expect(err).To(MatchError(errUnregistered))
	handling(all, BeforeClusterCreate)
	handling(own, BeforeClusterCreate, AfterControlPlaneInitialized)
	g.Expect(configsOf(ctx, management(g, namespace, all, own), asked)).To(Equal([]string{"c-own"}), "another extension, without settings too")
}

// Each ExtensionConfig may ask for something else, for example another bucket.
func TestExtensionConfigsHaveTheirOwnJobs(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	one, other := map[string]string{"smokeChecks": "Enabled"}, map[string]string{"smokeChecks": "Enabled", "smokeChecksTimeout": "1m"}
	live, task := management(g, cluster, registration("one", one), registration("other", other)), succeeding()
	answers := New(live, live, nil)
	doing := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}})
	for _, settings := range []map[string]string{one, other, one, other} {
		asked := upgradeOf(cluster)
		asked.settings = settings
		job, err := answers.request(ctx, asked)
		g.Expect(err).NotTo(HaveOccurred())
		reconcileJob(g, doing, job)
	}
	var timeouts []time.Duration
	for _, job := range task.jobs {
		timeouts = append(timeouts, job.Settings.SmokeChecksTimeout)
	}
	g.Expect(timeouts).To(Equal([]time.Duration{10 * time.Minute, time.Minute}), "each once, with its own settings")
}

// Cluster API calls AfterControlPlaneInitialized only once. Each of the ExtensionConfigs that have the same
// settings then, such as none, may ask for its work later.
func TestEachExtensionConfigHasAJobOfAfterControlPlaneInitialized(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	config, another, task := registration("foo", nil), registration("another", nil), succeeding()
	live := management(g, cluster, another, config)
	tasks := Tasks{AfterControlPlaneInitialized: {task.task()}}
	for range 2 {
		g.Expect(New(live, live, tasks).decide(ctx, call{cluster: cluster, hook: AfterControlPlaneInitialized}).failure).To(BeFalse())
	}
	jobs := &extensionv1.HookJobList{}
	g.Expect(live.List(ctx, jobs)).To(Succeed())
	g.Expect(jobs.Items).To(ConsistOf(HaveField("Spec.ExtensionConfig", "another"), HaveField("Spec.ExtensionConfig", "foo")))

	doing := newWorker(live, live, tasks)
	configure := func(config *runtimev1.ExtensionConfig, setting string) {
		g.Expect(live.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		config.Spec.Settings = map[string]string{setting: enabled}
		g.Expect(live.Update(ctx, config)).To(Succeed())
		requests := doing.ofConfig(ctx, config)
		g.Expect(requests).To(HaveLen(1))
		result, err := doing.Reconcile(ctx, requests[0])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(result).To(BeZero(), "a change of the settings wakes it")
	}
	configure(config, "smokeChecks")
	g.Expect(task.jobs).To(HaveLen(1))

	configure(another, "theirs")
	g.Expect(live.List(ctx, jobs)).To(Succeed())
	g.Expect(jobs.Items).To(ContainElement(WithTransform(func(job extensionv1.HookJob) string { return messageOf(&job) },
		HavePrefix(`nothing is done: the ExtensionConfig has unknown settings: "theirs"`))))
	configure(another, "smokeChecks")
	g.Expect(task.jobs).To(HaveLen(2))
}

// Something else may hold a step for days after its snapshot was taken.
func TestAnOutdatedResultIsNotUsed(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	live, task := management(g, cluster, registration("foo", map[string]string{"smokeChecks": "Enabled"})), succeeding()
	now := clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second))
	answers := Hooks{cached: live, client: live, clock: now}
	doing := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}})
	doing.clock = now
	asked := upgradeOf(cluster)
	asked.settings = map[string]string{"smokeChecks": "Enabled"}
	call := func() *extensionv1.HookJob {
		job, err := answers.request(ctx, asked)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
		g.Expect(err).NotTo(HaveOccurred())
		return job
	}
	call()
	now.SetTime(now.Now().Add(validity))
	g.Expect(call().IsCompleted()).To(BeTrue())
	g.Expect(task.jobs).To(HaveLen(1))

	now.SetTime(now.Now().Add(time.Second))
	again := call()
	g.Expect(again.IsCompleted()).To(BeFalse())
	g.Expect(messageOf(again)).To(BeEmpty(), "that of the first attempt")
	g.Expect(again.Spec.Attempt).To(BeEquivalentTo(2))
	g.Expect(task.jobs).To(HaveLen(2))
	g.Expect(task.jobs[1].Since).To(BeTemporally("==", now.Now()), "timeouts count from the second attempt")
	g.Expect(call().IsCompleted()).To(BeTrue())
	g.Expect(task.jobs).To(HaveLen(2))
}

// The checks before a step may be done while another extension holds it. A snapshot that is asked for then must
// still be taken before the step.
func TestACompletedJobIsDoneAgainIfTheSettingsAskForMore(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	config, smoke, more := registration("foo", nil), succeeding(), &scripted{setting: "upgradeChecks", outcome: Outcome{Done: true}}
	live := management(g, cluster, config)
	tasks := Tasks{BeforeControlPlaneUpgrade: {smoke.task(), more.task()}}
	answers, doing, asked := New(live, live, tasks), newWorker(live, live, tasks), upgradeOf(cluster)
	holds := func(settings map[string]string) bool {
		g.Expect(live.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		config.Spec.Settings, asked.settings = settings, settings
		g.Expect(live.Update(ctx, config)).To(Succeed())
		decided := answers.decide(ctx, asked)
		g.Expect(decided.failure).To(BeFalse(), decided.message)
		reconcileJob(g, doing, newJob(asked, "foo", time.Now()))
		return decided.retryAfter > 0
	}
	few, many := map[string]string{"smokeChecks": enabled}, map[string]string{"smokeChecks": enabled, "upgradeChecks": enabled}
	g.Expect(holds(few)).To(BeTrue())
	g.Expect(holds(few)).To(BeFalse())
	g.Expect(more.jobs).To(BeEmpty())
	g.Expect(holds(many)).To(BeTrue())
	g.Expect(more.jobs).To(HaveLen(1))
	g.Expect(holds(many)).To(BeFalse())
	g.Expect(holds(few)).To(BeFalse(), "it has done more than that")
	g.Expect(smoke.jobs).To(HaveLen(2))
}

// The final snapshot would be replaced by one that lacks what the clean-up has deleted.
func TestWhatWasDoneBeforeADeletionIsNotRepeated(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	asked := call{cluster: cluster, hook: BeforeClusterDelete, settings: map[string]string{"smokeChecks": "Enabled"}, asked: []string{"smokeChecks"}}
	now := time.Now()
	job := newJob(asked, "foo", now.Add(-time.Hour))
	job.Status = statusOf(job, Outcome{Done: true}, now.Add(-2*validity))
	live := management(g, cluster, job, registration("foo", asked.settings))
	known, err := Hooks{cached: live, client: live, clock: clocktesting.NewFakePassiveClock(now)}.request(ctx, asked)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(known.IsCompleted()).To(BeTrue())
	g.Expect(known.Spec.Attempt).To(BeEquivalentTo(1))
}

func TestThePlanOfAJobChanges(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	live := management(g, registration("foo", nil))
	answers, asked := New(live, live, nil), upgradeOf(cluster)
	for _, version := range []string{"v1.36.3", "v1.37.0"} {
		asked.steps = []runtimehooksv1.UpgradeStepInfo{{Version: version}}
		_, err := answers.request(ctx, asked)
		g.Expect(err).NotTo(HaveOccurred())
		jobs := &extensionv1.HookJobList{}
		g.Expect(live.List(ctx, jobs)).To(Succeed())
		g.Expect(jobs.Items).To(HaveLen(1))
		g.Expect(jobs.Items[0].Spec.Plan).To(Equal([]string{version}))
	}
}
