// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/internal/documented"
)

func TestEventsAndMetrics(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	task, requested := succeeding(), time.Unix(1000, 0)
	job := newJob(upgradeOf(cluster), "foo", requested)
	live := management(g, cluster, job, registration("foo", map[string]string{"smokeChecks": "Enabled"}), registration("off", nil))
	recorder, registry := events.NewFakeRecorder(10), prometheus.NewRegistry()
	worker := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}})
	worker.recorder, worker.clock = recorder, clocktesting.NewFakePassiveClock(requested.Add(time.Hour))
	var err error
	worker.ended, err = registered(registry, live)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(documented.Metrics(registry, "../../docs/metrics.md", "Runtime extension")).To(Succeed())

	reconcile := func(outcome Outcome) []string {
		task.outcome = outcome
		_, err := worker.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)})
		g.Expect(err).NotTo(HaveOccurred())
		var said []string
		for len(recorder.Events) > 0 {
			said = append(said, <-recorder.Events)
		}
		return said
	}
	shows := func(want string) {
		g.Expect(testutil.GatherAndCompare(registry, strings.NewReader(want), "foo_hook_blocked_since_timestamp_seconds",
			"foo_etcd_snapshot_timestamp_seconds", "foo_hooks_completed_total")).To(Succeed())
	}
	const blocked = "# HELP foo_hook_blocked_since_timestamp_seconds When a lifecycle hook was called that still blocks its Cluster, in seconds since 1970.\n" +
		"# TYPE foo_hook_blocked_since_timestamp_seconds gauge\n" +
		`foo_hook_blocked_since_timestamp_seconds{cluster="blue",hook="BeforeControlPlaneUpgrade",namespace="team"} 1000` + "\n"
	shows(blocked)
	g.Expect(reconcile(Outcome{Message: "waits"})).To(HaveExactElements(
		"Normal HookWaiting BeforeControlPlaneUpgrade: waits", "Normal HookWaiting BeforeControlPlaneUpgrade: waits"), "on the job and on its Cluster")
	g.Expect(reconcile(Outcome{Message: "waits"})).To(BeEmpty(), "nothing is new")
	shows(blocked)

	taken := time.Unix(2000, 0)
	g.Expect(reconcile(Outcome{Done: true, Message: "without", Incomplete: true, SnapshotTime: taken})).To(HaveExactElements(
		"Warning HookIncomplete BeforeControlPlaneUpgrade: without", "Warning HookIncomplete BeforeControlPlaneUpgrade: without"))
	shows("# HELP foo_etcd_snapshot_timestamp_seconds When the newest etcd snapshot of a Cluster was taken by a hook, in seconds since 1970.\n" +
		"# TYPE foo_etcd_snapshot_timestamp_seconds gauge\n" +
		`foo_etcd_snapshot_timestamp_seconds{cluster="blue",namespace="team"} 2000` + "\n" +
		"# HELP foo_hooks_completed_total Jobs of lifecycle hooks that were completed, by hook and by result: Completed or Incomplete.\n" +
		"# TYPE foo_hooks_completed_total counter\n" +
		`foo_hooks_completed_total{hook="BeforeControlPlaneUpgrade",result="Incomplete"} 1` + "\n")
}

// Every Cluster has such a job while the add-ons are off.
func TestTheEndOfARestingJobIsNotReported(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	asked := upgradeOf(cluster.DeepCopy())
	asked.cluster.Finalizers = []string{"test/held"}
	job, recorder, registry := newJob(asked, "foo", time.Now()), events.NewFakeRecorder(10), prometheus.NewRegistry()
	live := management(g, asked.cluster, job, registration("foo", nil))
	worker := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {succeeding().task()}})
	worker.recorder = recorder
	registry.MustRegister(worker.ended)
	reconcileJob(g, worker, job)
	g.Expect(live.Delete(ctx, asked.cluster)).To(Succeed())
	reconcileJob(g, worker, job)
	g.Expect(recorder.Events).To(BeEmpty())
	g.Expect(testutil.GatherAndCount(registry)).To(BeZero())
}

// An API server refuses an event with a longer note.
func TestEventsAreShortEnough(t *testing.T) {
	g := NewWithT(t)
	job, recorder := newJob(upgradeOf(cluster), "foo", time.Now()), events.NewFakeRecorder(10)
	live := management(g, cluster, job, registration("foo", map[string]string{"smokeChecks": "Enabled"}))
	long := strings.Repeat("waits ", 1000)
	task := &scripted{setting: "smokeChecks", outcome: Outcome{Message: long}}
	worker := newWorker(live, live, Tasks{BeforeControlPlaneUpgrade: {task.task()}})
	worker.recorder = recorder
	reconcileJob(g, worker, job)
	for range 2 {
		note, found := strings.CutPrefix(<-recorder.Events, "Normal HookWaiting ")
		g.Expect(found).To(BeTrue())
		g.Expect(note).To(And(HavePrefix("BeforeControlPlaneUpgrade: waits"), HaveSuffix(" ...")))
		g.Expect(len(note)).To(BeNumerically("<=", 1024))
	}
	g.Expect(live.Get(context.Background(), client.ObjectKeyFromObject(job), job)).To(Succeed())
	g.Expect(messageOf(job)).To(Equal(long), "the job has all of it")
}

// An administrator of a workload cluster determines some texts, and the API server refuses longer ones.
func TestTextsFitIntoTheStatus(t *testing.T) {
	g := NewWithT(t)
	endless := Outcome{Done: true, Message: strings.Repeat("a", 1<<20), Report: strings.Repeat("b", 1<<20)}
	record := recordOf("finalSnapshot", endless, metav1.Now())
	job := newJob(upgradeOf(cluster), "foo", time.Now())
	job.Status = statusOf(job, endless, time.Now())
	for _, message := range []string{record.Message, messageOf(job)} {
		g.Expect(message).To(HaveLen(32768))
	}
	for _, report := range []string{record.Report, job.Status.Report} {
		g.Expect(report).To(HaveLen(262144))
	}
}

func TestWhatBlocks(t *testing.T) {
	g := NewWithT(t)
	job := newJob(upgradeOf(cluster), "foo", time.Now())
	g.Expect(blocks(job)).To(BeTrue(), "before anybody has looked at it")
	for reason, want := range map[string]bool{extensionv1.HookJobWaitingReason: true, extensionv1.HookJobRestingReason: false} {
		job.Status.Conditions = []metav1.Condition{{Type: extensionv1.HookJobCompletedCondition, Status: metav1.ConditionFalse, Reason: reason}}
		g.Expect(blocks(job)).To(Equal(want), reason)
	}
	job.Status = extensionv1.HookJobStatus{}
	job.Spec.Hook = AfterControlPlaneInitialized
	g.Expect(blocks(job)).To(BeFalse())
}
