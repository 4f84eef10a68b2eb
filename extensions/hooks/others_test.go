// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// deletion is a Cluster that is being deleted. One ExtensionConfig asks for a backup of its volumes, and
// another for a clean-up that deletes them.
type deletion struct {
	*WithT
	live             client.Client
	worker           *worker
	now              *clocktesting.FakePassiveClock
	backup, cleanUp  *scripted
	backing, cleaned *extensionv1.HookJob
}

var (
	backsUp  = map[string]string{"volumeBackupJob": "backup"}
	cleansUp = map[string]string{"cleanUp": enabled}
)

func beingDeleted() *clusterv1.Cluster {
	deleted := cluster.DeepCopy()
	deleted.Finalizers, deleted.DeletionTimestamp = []string{clusterv1.ClusterFinalizer}, &metav1.Time{Time: time.Unix(900, 0)}
	return deleted
}

// newDeletion gives the ExtensionConfigs names, because their order must not matter.
func newDeletion(t *testing.T, backing, cleaning string) *deletion {
	deleted := beingDeleted()
	d := &deletion{
		WithT: NewWithT(t), now: clocktesting.NewFakePassiveClock(time.Unix(1000, 0)),
		backup:  &scripted{setting: "volumeBackupJob", outcome: Outcome{Message: "backs up"}},
		cleanUp: &scripted{setting: "cleanUp", outcome: Outcome{Done: true, Message: "cleaned up"}},
	}
	asked := call{cluster: deleted, hook: BeforeClusterDelete}
	d.backing, d.cleaned = newJob(asked, backing, d.now.Now()), newJob(asked, cleaning, d.now.Now())
	d.live = management(d, deleted, d.cleaned,
		handling(registration(backing, backsUp), BeforeClusterDelete), handling(registration(cleaning, cleansUp), BeforeClusterDelete))
	d.worker = newWorker(d.live, d.live, Tasks{BeforeClusterDelete: {d.backup.task(), d.cleanUp.task()}})
	d.worker.clock, d.worker.recorder = d.now, events.NewFakeRecorder(100)
	return d
}

// configure changes the settings of an ExtensionConfig.
func (d *deletion) configure(name string, settings map[string]string) {
	config := registration(name, nil)
	d.Expect(d.live.Get(context.Background(), client.ObjectKeyFromObject(config), config)).To(Succeed())
	config.Spec.Settings = settings
	d.Expect(d.live.Update(context.Background(), config)).To(Succeed())
}

// look looks at a job, and returns what it says.
func (d *deletion) look(job *extensionv1.HookJob) string {
	reconcileJob(d, d.worker, job)
	d.Expect(d.live.Get(context.Background(), client.ObjectKeyFromObject(job), job)).To(Succeed())
	return messageOf(job)
}

func TestNoCleanUpBeforeTheBackupOfAnotherExtensionConfig(t *testing.T) {
	for backing, cleaning := range map[string]string{"a": "b", "b": "a"} {
		d := newDeletion(t, backing, cleaning)
		waiting := "waiting for volumeBackupJob of the ExtensionConfig " + backing
		d.Expect(d.look(d.cleaned)).To(Equal(waiting), "Cluster API has not called the other one yet")
		d.Expect(d.live.Create(context.Background(), d.backing)).To(Succeed())
		d.Expect(d.look(d.cleaned)).To(Equal(waiting))
		d.Expect(d.look(d.backing)).To(Equal("backs up"))
		d.Expect(d.look(d.cleaned)).To(Equal(waiting))
		d.Expect(d.cleanUp.jobs).To(BeEmpty())

		d.now.SetTime(time.Unix(5000, 0))
		d.backup.outcome = Outcome{Done: true, Message: "backed up"}
		d.Expect(d.look(d.backing)).To(Equal("backed up"))
		d.Expect(d.look(d.cleaned)).To(Equal("cleaned up"))
		d.Expect(d.cleanUp.jobs).To(HaveLen(1))
		d.Expect(d.cleanUp.jobs[0].Since).To(BeTemporally("==", time.Unix(5000, 0)), "its time counts from the end of the backup")
	}
}

func TestNoCleanUpAfterABackupThatFailed(t *testing.T) {
	d := newDeletion(t, "backing", "cleaning")
	d.Expect(d.live.Create(context.Background(), d.backing)).To(Succeed())
	d.backup.outcome = Outcome{Done: true, Incomplete: true, Last: true, Message: "not backed up in time"}
	d.Expect(d.look(d.backing)).To(Equal("not backed up in time"))
	d.Expect(d.look(d.cleaned)).To(Equal("nothing more is done, because of volumeBackupJob of the ExtensionConfig backing: not backed up in time"))
	d.Expect(d.cleaned.IsCompleted()).To(BeTrue())
	d.Expect(d.cleaned.Status.Conditions).To(ContainElement(HaveField("Reason", extensionv1.HookJobIncompleteReason)))
	d.Expect(d.cleanUp.jobs).To(BeEmpty())
}

// Anybody who reaches the server may call the hook of a Cluster that lives for a long time after that.
func TestAnEarlyCallUsesUpNoTimeOfADeletion(t *testing.T) {
	d := newDeletion(t, "backing", "cleaning")
	d.backing.Spec.RequestTime = metav1.Unix(100, 0)
	d.Expect(d.live.Create(context.Background(), d.backing)).To(Succeed())
	d.look(d.backing)
	d.Expect(d.backup.jobs).To(ConsistOf(HaveField("Since", BeTemporally("==", time.Unix(900, 0)))), "since the deletion of the Cluster")
}

// The first and the last of three tasks belong to one ExtensionConfig, the second to another. Whatever a task
// says once it is done, neither job may wait for the other forever.
func TestTasksOfExtensionConfigsInTurn(t *testing.T) {
	ctx := context.Background()
	d := newDeletion(t, "backing", "cleaning")
	snapshot := &scripted{setting: "finalSnapshot", outcome: Outcome{Done: true, Message: "no snapshot"}}
	d.worker.tasks = Tasks{BeforeClusterDelete: {snapshot.task(), d.backup.task(), d.cleanUp.task()}}
	d.configure("cleaning", map[string]string{"cleanUp": enabled, "finalSnapshot": enabled, "snapshotURL": "s3://bucket?region=eu-west-1"})
	d.Expect(d.live.Create(ctx, d.backing)).To(Succeed())

	d.Expect(d.look(d.backing)).To(Equal("waiting for finalSnapshot of the ExtensionConfig cleaning"))
	d.Expect(d.look(d.cleaned)).To(Equal("no snapshot"))
	d.Expect(d.look(d.cleaned)).To(Equal("waiting for volumeBackupJob of the ExtensionConfig backing"))
	d.backup.outcome = Outcome{Done: true, Message: "no backup"}
	d.Expect(d.look(d.backing)).To(Equal("no backup"))
	d.Expect(d.look(d.cleaned)).To(Equal("no snapshot; cleaned up"))
	d.Expect(d.backing.IsCompleted() && d.cleaned.IsCompleted()).To(BeTrue())
	d.Expect(snapshot.jobs).To(HaveLen(1))
}

// Cluster API calls the hook again while the clean-up holds the deletion, but perhaps not before the clean-up is
// looked at. The snapshot must not be repeated, and has used up no time of the backup.
func TestNoCleanUpBeforeABackupThatIsAskedForLater(t *testing.T) {
	ctx := context.Background()
	d := newDeletion(t, "backing", "cleaning")
	snapshot := &scripted{setting: "finalSnapshot", outcome: Outcome{Done: true, Message: "a snapshot"}}
	d.worker.tasks = Tasks{BeforeClusterDelete: {snapshot.task(), d.backup.task(), d.cleanUp.task()}}
	settings := map[string]string{"finalSnapshot": enabled, "snapshotURL": "s3://bucket?region=eu-west-1"}
	d.configure("backing", settings)
	d.Expect(d.live.Create(ctx, d.backing)).To(Succeed())
	d.Expect(d.look(d.backing)).To(Equal("a snapshot"))
	d.Expect(d.backing.IsCompleted()).To(BeTrue())

	d.now.SetTime(time.Unix(9000, 0))
	settings["volumeBackupJob"] = "backup"
	d.configure("backing", settings)
	waiting := "waiting for volumeBackupJob of the ExtensionConfig backing"
	d.Expect(d.look(d.cleaned)).To(Equal(waiting))
	answers := Hooks{cached: d.live, client: d.live, tasks: d.worker.tasks, clock: d.now}
	d.Expect(answers.decide(ctx, call{cluster: cluster, hook: BeforeClusterDelete, settings: settings}).retryAfter).To(BeNumerically(">", 0))
	d.Expect(d.look(d.cleaned)).To(Equal(waiting))
	d.Expect(d.look(d.backing)).To(Equal("backs up"))
	d.Expect(d.backup.jobs).To(ConsistOf(And(HaveField("Attempt", BeEquivalentTo(2)), HaveField("Since", BeTemporally("==", time.Unix(9000, 0))))))
	d.Expect(d.look(d.cleaned)).To(Equal(waiting))
	d.Expect(d.cleanUp.jobs).To(BeEmpty())

	d.backup.outcome = Outcome{Done: true, Message: "backed up"}
	d.Expect(d.look(d.backing)).To(Equal("a snapshot; backed up"))
	d.Expect(d.look(d.cleaned)).To(Equal("cleaned up"))
	d.Expect(snapshot.jobs).To(HaveLen(1))
}

// A job may belong to another ExtensionConfig with the same settings, of which Cluster API knows no
// handlers: it was never discovered, or is new.
func TestNoCleanUpBeforeABackupUnderAnotherName(t *testing.T) {
	ctx := context.Background()
	for name, owner := range map[string]string{"not called yet": "", "the other's job": "a-new", "its own job": "backing"} {
		t.Run(name, func(t *testing.T) {
			d := newDeletion(t, "backing", "cleaning")
			d.Expect(d.live.Create(ctx, registration("a-new", backsUp))).To(Succeed())
			if owner != "" {
				d.Expect(d.live.Create(ctx, newJob(call{cluster: cluster, hook: BeforeClusterDelete}, owner, d.now.Now()))).To(Succeed())
			}
			d.Expect(d.look(d.cleaned)).To(HavePrefix("waiting for volumeBackupJob of the ExtensionConfig "))
			d.Expect(d.cleanUp.jobs).To(BeEmpty())
		})
	}
}

// Two ExtensionConfigs got the same settings, so calls no longer ask for the job of the second one.
func TestNobodyWaitsForAJobThatIsNoLongerAskedFor(t *testing.T) {
	ctx := context.Background()
	d := newDeletion(t, "backing", "cleaning")
	d.Expect(d.live.Create(ctx, handling(registration("a-new", backsUp), BeforeClusterDelete))).To(Succeed())
	d.backing.Status = statusOf(d.backing, Outcome{Done: true, asked: []string{"finalSnapshot"}}, d.now.Now())
	d.Expect(d.live.Create(ctx, d.backing)).To(Succeed())
	d.Expect(d.look(d.cleaned)).To(Equal("waiting for volumeBackupJob of the ExtensionConfig a-new"))
	shared := newJob(call{cluster: cluster, hook: BeforeClusterDelete}, "a-new", d.now.Now())
	d.Expect(d.live.Create(ctx, shared)).To(Succeed())
	d.backup.outcome = Outcome{Done: true, Message: "backed up"}
	d.Expect(d.look(shared)).To(Equal("backed up"))
	d.Expect(d.look(d.cleaned)).To(Equal("cleaned up"))
}

// backwards is a cache that lists ExtensionConfigs in another order.
type backwards struct{ client.Client }

func (b backwards) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := b.Client.List(ctx, list, options...)
	if configs, ok := list.(*runtimev1.ExtensionConfigList); ok {
		slices.Reverse(configs.Items)
	}
	return err
}

func TestWhatAJobWaitsForIsAlwaysTheSame(t *testing.T) {
	d := newDeletion(t, "backing", "cleaning")
	snapshot := handling(registration("snapping", map[string]string{"volumeBackupJob": "another"}), BeforeClusterDelete)
	d.Expect(d.live.Create(context.Background(), snapshot)).To(Succeed())
	before := d.look(d.cleaned)
	d.worker.cached = backwards{d.live}
	d.Expect(d.look(d.cleaned)).To(Equal(before))
}

func TestNobodyWaitsForWhatIsNotDone(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(*deletion){
		"another namespace": func(d *deletion) {
			config := registration("backing", nil)
			d.Expect(d.live.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
			config.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "green"}}
			d.Expect(d.live.Update(ctx, config)).To(Succeed())
		},
		"no handler that Cluster API knows": func(d *deletion) {
			config := registration("backing", backsUp)
			d.Expect(d.live.Delete(ctx, config)).To(Succeed())
			d.Expect(d.live.Create(ctx, config)).To(Succeed())
		},
		"an ExtensionConfig that is being deleted": func(d *deletion) {
			config := registration("backing", nil)
			d.Expect(d.live.Create(ctx, d.backing)).To(Succeed())
			d.Expect(d.live.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
			config.Finalizers = []string{metav1.FinalizerDeleteDependents}
			d.Expect(d.live.Update(ctx, config)).To(Succeed())
			d.Expect(d.live.Delete(ctx, config)).To(Succeed())
			d.Expect(d.look(d.backing)).To(Equal(`nothing is done: there is no ExtensionConfig "backing"`))
		},
		"other settings by now": func(d *deletion) { d.configure("backing", maps.Clone(cleansUp)) },
		"never initialized": func(d *deletion) {
			d.Expect(d.live.Create(ctx, d.backing)).To(Succeed())
			d.backup.outcome = Outcome{Done: true, Message: "never initialized"}
			d.look(d.backing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeletion(t, "backing", "cleaning")
			d.Expect(d.live.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Namespace}})).To(Succeed())
			change(d)
			d.Expect(d.look(d.cleaned)).To(Equal("cleaned up"))
		})
	}
}
