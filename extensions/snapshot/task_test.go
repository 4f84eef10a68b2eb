// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

var (
	key   = client.ObjectKey{Namespace: "default", Name: "quick"}
	since = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

const stacked = "etcd:\n  local:\n    dataDir: /var/lib/etcd\n"

// story is a Cluster, its workload cluster and the management cluster, without any controllers.
type story struct {
	*WithT
	ctx                  context.Context
	workload, management client.Client
	clock                *clocktesting.FakePassiveClock
	tasks                Tasks
	job                  hooks.Job
	// ended counts the Jobs that have ended.
	ended int
}

// newStory begins a story with the settings, in which the workload cluster has a ClusterConfiguration
// of kubeadm unless it is empty.
func newStory(t *testing.T, configuration string, more map[string]string) *story {
	s := &story{WithT: NewWithT(t), ctx: t.Context(), clock: clocktesting.NewFakePassiveClock(since)}
	s.management = fake.NewClientBuilder().Build()
	s.workload = fake.NewClientBuilder().WithStatusSubresource(&batchv1.Job{}).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetCreationTimestamp(metav1.NewTime(s.clock.Now())) // as the API server does
			return c.Create(ctx, object, options...)
		},
	}).Build()
	if configuration != "" {
		s.Expect(s.workload.Create(s.ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"}, Data: map[string]string{"ClusterConfiguration": configuration},
		})).To(Succeed())
	}
	s.tasks = Tasks{
		Image:    "example.com/etcd-snapshot:v1",
		Clusters: hooks.Clusters{Client: s.management, Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return s.workload, nil }},
	}
	given := map[string]string{"snapshots": "Enabled", "finalSnapshot": "Enabled", "snapshotURL": "s3://bucket?region=r&prefix=foo"}
	maps.Copy(given, more)
	settings, err := hooks.ParseSettings(given)
	s.Expect(err).NotTo(HaveOccurred())
	s.job = hooks.Job{
		Cluster: initialized(), Hook: hooks.BeforeControlPlaneUpgrade, From: "v1.35.4", To: "v1.36.3", Settings: settings, Since: since, Attempt: 1, Config: "foo",
	}
	return s
}

// initialized returns a Cluster whose control plane was initialized and has the versions.
func initialized(versions ...string) *clusterv1.Cluster {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "u1"}}
	cluster.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	cluster.Status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{}
	for _, version := range versions {
		cluster.Status.ControlPlane.Versions = append(cluster.Status.ControlPlane.Versions, clusterv1.StatusVersion{Version: version})
	}
	return cluster
}

func (s *story) run(task func(context.Context, hooks.Job) (hooks.Outcome, error)) hooks.Outcome {
	s.job.Now = s.clock.Now()
	outcome, err := task(s.ctx, s.job)
	s.Expect(err).NotTo(HaveOccurred())
	return outcome
}

func (s *story) upgrade() hooks.Outcome { return s.run(s.tasks.BeforeControlPlaneUpgrade) }

func (s *story) deletion() hooks.Outcome { return s.run(s.tasks.BeforeClusterDelete) }

func (s *story) jobs() []batchv1.Job {
	list := &batchv1.JobList{}
	s.Expect(s.workload.List(s.ctx, list)).To(Succeed())
	return list.Items
}

func (s *story) onlyJob() *batchv1.Job {
	jobs := s.jobs()
	s.Expect(jobs).To(HaveLen(1))
	return &jobs[0]
}

func (s *story) secrets() []corev1.Secret {
	list := &corev1.SecretList{}
	s.Expect(s.workload.List(s.ctx, list)).To(Succeed())
	return list.Items
}

// end ends the only Job now, as Kubernetes does after its program wrote a termination message.
func (s *story) end(condition batchv1.JobConditionType, message string) {
	job := s.onlyJob()
	s.ended++
	job.UID = types.UID(fmt.Sprint("job-", s.ended))
	s.Expect(s.workload.Update(s.ctx, job)).To(Succeed())
	job.Status.Conditions = []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Reason: "Ended", LastTransitionTime: metav1.NewTime(s.clock.Now())}}
	s.Expect(s.workload.Status().Update(s.ctx, job)).To(Succeed())
	if message == "" {
		return
	}
	s.Expect(s.workload.Create(s.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: string(job.UID), Labels: map[string]string{batchv1.ControllerUidLabel: string(job.UID)}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(s.clock.Now()), Message: message}}},
		}},
	})).To(Succeed())
}

const (
	unfinished = `Job kube-system/foo-etcd-snapshot-[0-9a-f]{10} has not finished`
	location   = "s3://bucket/foo as u1/default.quick/v1.35.4/before-v1.36.3.db"
	record     = `{"snapshot":{"taken":"2026-01-02T03:04:04Z","size":4096,"sha256":"abc","hash":"ef","revision":7,"keys":5,"members":["m1"],"etcdVersion":"3.6.0"}}`
	refusal    = `{"problem":"storing the snapshot in s3://bucket/foo: the bucket answered PermissionDenied"}`
)

func TestUpgradeWaitsForTheJob(t *testing.T) {
	s := newStory(t, stacked, nil)
	for range 3 {
		s.Expect(s.upgrade()).To(And(HaveField("Done", false), HaveField("Message", MatchRegexp("^waiting for an etcd snapshot: "+unfinished+"$"))))
	}
	request, err := snapshotjob.ParseRequest(s.onlyJob().Spec.Template.Spec.Containers[0].Args)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(request.Name.Database()).To(Equal("u1/default.quick/v1.35.4/before-v1.36.3.db"))
	s.Expect(request.Since).To(BeTemporally("==", since))
	s.Expect(request.Keep).To(Equal(5))

	s.clock.SetTime(since.Add(time.Minute))
	s.end(batchv1.JobComplete, record)
	s.Expect(s.upgrade()).To(Equal(hooks.Outcome{
		Done: true, Message: "an etcd snapshot is stored in " + location + ": revision 7, members 1",
		Report: "etcd snapshot: " + location + "\ntaken: 2026-01-02T03:04:04Z\nsize: 4096 bytes\nsha256: abc\n" +
			"hash: ef, revision: 7, keys: 5\nmembers: m1\netcd version: 3.6.0",
		SnapshotTime: since.Add(-time.Second),
	}))

	s.job.Attempt = 2
	s.Expect(s.upgrade().Done).To(BeFalse(), "another attempt needs a snapshot of its own")
	s.Expect(s.jobs()).To(HaveLen(2))
}

// The Pod of a Job may be gone with its machine.
func TestSnapshotOfAPodThatIsGone(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.upgrade()
	s.end(batchv1.JobComplete, "")
	s.Expect(s.upgrade()).To(And(HaveField("Done", true), HaveField("Message", "an etcd snapshot is stored in "+location)))
}

// People need time to fix what a Job failed for, and must not wait long afterwards.
func TestAnotherJobFollowsOneThatFailed(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.upgrade()
	s.end(batchv1.JobFailed, refusal)
	failed := s.onlyJob().UID
	const problem = "waiting for an etcd snapshot: storing the snapshot in s3://bucket/foo: the bucket answered PermissionDenied"
	s.Expect(s.upgrade().Message).To(Equal(problem))
	s.clock.SetTime(since.Add(patience - time.Second))
	s.Expect(s.upgrade().Message).To(Equal(problem))
	s.Expect(s.onlyJob().UID).To(Equal(failed))
	s.clock.SetTime(since.Add(patience))
	s.Expect(s.upgrade().Message).To(Equal(problem), "the same problem until something else is known")
	s.Expect(s.onlyJob().UID).NotTo(Equal(failed))
	s.Expect(s.upgrade().Message).To(Equal(problem))
	s.end(batchv1.JobComplete, record)
	s.Expect(s.upgrade().Done).To(BeTrue())
}

// The pause between two Jobs must not grow by the difference of two clocks.
func TestAJobThatFailedByAClockThatIsAhead(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.upgrade()
	s.clock.SetTime(since.Add(time.Hour))
	s.end(batchv1.JobFailed, refusal)
	failed := s.onlyJob().UID
	s.clock.SetTime(since)
	s.upgrade()
	s.Expect(s.onlyJob().UID).NotTo(Equal(failed))
}

func TestAJobThatNobodyExplains(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.upgrade()
	s.end(batchv1.JobFailed, "no JSON")
	s.Expect(s.upgrade().Message).To(MatchRegexp(`^waiting for an etcd snapshot: Job kube-system/foo-etcd-snapshot-[0-9a-f]{10} failed \(Ended\)$`))
}

func TestOtherSettingsNeedAnotherJob(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.upgrade()
	s.job.Settings.SnapshotURL = "s3://another"
	s.upgrade()
	request, err := snapshotjob.ParseRequest(s.onlyJob().Spec.Template.Spec.Containers[0].Args)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(request.URL).To(Equal("s3://another"))
}

// Administrators of the workload cluster can read the copy, so it must not stay.
func TestCredentialsAreInTheWorkloadClusterOnlyWhileTheJobRuns(t *testing.T) {
	s := newStory(t, stacked, map[string]string{"snapshotCredentials": "bucket"})
	s.Expect(s.upgrade().Message).To(Equal(
		`waiting for an etcd snapshot: the Secret bucket, which the setting snapshotCredentials names, cannot be read: the API server answered NotFound for secrets "bucket"`))
	s.Expect(s.jobs()).To(BeEmpty())
	given := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "bucket"}, Data: map[string][]byte{"AWS_SECRET_ACCESS_KEY": []byte("hunter2")}}
	s.Expect(s.management.Create(s.ctx, given)).To(Succeed())
	s.upgrade()
	s.Expect(s.secrets()).To(ConsistOf(And(HaveField("Name", s.onlyJob().Name), HaveField("Data", given.Data), HaveField("OwnerReferences", HaveLen(1)))))
	s.end(batchv1.JobFailed, refusal)
	s.upgrade()
	s.Expect(s.secrets()).To(BeEmpty())

	given.Data["AWS_SECRET_ACCESS_KEY"] = []byte("hunter3")
	s.Expect(s.management.Update(s.ctx, given)).To(Succeed())
	s.upgrade()
	s.upgrade()
	s.Expect(s.secrets()).To(ConsistOf(HaveField("Data", given.Data)), "another credential needs no patience")
	s.Expect(s.onlyJob().Spec.TTLSecondsAfterFinished).To(HaveValue(BeEquivalentTo(3600)), "even if nobody looks at the Job again")
	text := fmt.Sprint(s.jobs())
	s.Expect(text).NotTo(ContainSubstring("hunter"))
	s.end(batchv1.JobComplete, record)
	s.Expect(s.upgrade().Done).To(BeTrue())
	s.Expect(s.secrets()).To(BeEmpty())
}

// A Job on a machine of the control plane could do more harm than any other.
func TestTheJobMayDoLittle(t *testing.T) {
	s := newStory(t, stacked, map[string]string{"snapshotURL": "file:///mnt/snapshots?prefix=a"})
	s.upgrade()
	pod := s.onlyJob().Spec.Template.Spec
	s.Expect(pod.AutomountServiceAccountToken).To(HaveValue(BeFalse()))
	s.Expect(pod.NodeSelector).To(Equal(map[string]string{"node-role.kubernetes.io/control-plane": ""}))
	container := pod.Containers[0]
	s.Expect(container.SecurityContext.Capabilities.Drop).To(ConsistOf(corev1.Capability("ALL")))
	s.Expect(container.SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
	paths := map[string]string{}
	for _, volume := range pod.Volumes {
		if volume.HostPath != nil {
			paths[volume.HostPath.Path] = string(*volume.HostPath.Type)
		}
	}
	s.Expect(paths).To(Equal(map[string]string{
		"/etc/kubernetes/pki/etcd/ca.crt": "File", "/etc/kubernetes/pki/apiserver-etcd-client.crt": "File", "/etc/kubernetes/pki/apiserver-etcd-client.key": "File",
		"/mnt/snapshots": "Directory",
	}), "no key of an authority, and a folder only if it was mounted")
	for _, mount := range container.VolumeMounts {
		s.Expect(mount.ReadOnly).To(Equal(mount.Name != "tmp" && mount.Name != "snapshots"), mount.Name)
	}
}

func TestUpgradeIsHeld(t *testing.T) {
	held := "no etcd snapshot can be taken: %s; take one yourself, then name BeforeControlPlaneUpgrade in the annotation foo.cluster.x-k8s.io/skip-hooks, or set snapshotExternalEtcd to Skip"
	gone := func(port int) error { return fmt.Errorf("dial tcp 10.0.0.1:%d: connection reset", port) }
	missing := apierrors.NewNotFound(corev1.Resource("secrets"), "quick-kubeconfig")
	for name, test := range map[string]struct {
		configuration string
		first, second error
		want          string
	}{
		"external etcd":       {configuration: "etcd:\n  external:\n    endpoints: [https://10.0.0.9:2379]\n", want: fmt.Sprintf(held, "the control plane does not run etcd")},
		"not made by kubeadm": {want: fmt.Sprintf(held, "kubeadm has not created the control plane, so nothing is known about its etcd")},
		"no kubeconfig": {first: missing, second: missing,
			want: `waiting for an etcd snapshot: the workload cluster cannot be reached: the API server answered NotFound for secrets "quick-kubeconfig"`},
		"no answer": {first: gone(1), second: gone(2), want: "waiting for an etcd snapshot: the workload cluster cannot be reached: dial tcp <address>: connection reset"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, test.configuration, nil)
			failure := test.first
			s.tasks.Workload = func(context.Context, client.ObjectKey) (client.Client, error) { return s.workload, failure }
			first := s.upgrade()
			s.Expect(first).To(And(HaveField("Done", false), HaveField("Message", test.want)))
			failure = test.second
			s.Expect(s.upgrade()).To(Equal(first), "the same words for the same state")
		})
	}
}

// Mirror Pods of etcd may be missing for a while; that does not make it external.
func TestUpgradeWithExternalEtcdGoesOnIfAllowed(t *testing.T) {
	s := newStory(t, "etcd:\n  external:\n    endpoints: []\n", map[string]string{"snapshotExternalEtcd": "Skip"})
	s.Expect(s.upgrade()).To(Equal(hooks.Outcome{Done: true, Message: "no etcd snapshot was taken, as the setting snapshotExternalEtcd allows: the control plane does not run etcd"}))
	s = newStory(t, stacked, map[string]string{"snapshotExternalEtcd": "Skip"})
	s.Expect(s.upgrade().Done).To(BeFalse())
}

func TestThereIsNoImage(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.tasks.Image = ""
	s.Expect(s.upgrade().Message).To(Equal("waiting for an etcd snapshot: the runtime extension has no image for the snapshot Job: start the extension with --etcd-snapshot-image"))
}

func TestStepThatHasBegun(t *testing.T) {
	for name, test := range map[string]struct {
		versions []string
		want     string
	}{
		"some machines":  {[]string{"v1.35.4", "v1.36.3"}, "no etcd snapshot was taken: the control plane already has version v1.36.3"},
		"another target": {[]string{"v1.36.0"}, "no etcd snapshot was taken: the control plane already has version v1.36.0"},
		"a patch":        {[]string{"v1.35.6"}, ""},
		"none yet":       {[]string{"v1.34.1", "v1.35.4", "unknown"}, ""},
		"nobody says":    {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, stacked, nil)
			s.job.Cluster = initialized(test.versions...)
			outcome := s.upgrade()
			if test.want == "" {
				s.Expect(s.jobs()).To(HaveLen(1))
				return
			}
			s.Expect(outcome).To(Equal(hooks.Outcome{Done: true, Message: test.want}))
			s.Expect(s.jobs()).To(BeEmpty())
		})
	}
}

func TestDeletionEnds(t *testing.T) {
	s := newStory(t, stacked, map[string]string{"finalSnapshotTimeout": "5m"})
	s.tasks.Workload = func(context.Context, client.ObjectKey) (client.Client, error) { return nil, errors.New("no answer") }
	at := func(after time.Duration) hooks.Outcome {
		s.clock.SetTime(since.Add(after))
		return s.deletion()
	}
	waiting := "waiting at most 5m0s for a final etcd snapshot: the workload cluster cannot be reached: no answer"
	s.Expect(at(0)).To(Equal(hooks.Outcome{Message: waiting, RetryAfter: lookAgain}))
	s.Expect(at(5*time.Minute - time.Second)).To(Equal(hooks.Outcome{Message: waiting, RetryAfter: time.Second}))
	for range 2 {
		s.Expect(at(5 * time.Minute)).To(Equal(hooks.Outcome{
			Done: true, Incomplete: true,
			Message: "no final etcd snapshot was taken within 5m0s: the workload cluster cannot be reached: no answer",
		}))
	}
}

// After a restart, the time may be over before anything was tried.
func TestDeletionTriesOnceMore(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.clock.SetTime(since.Add(time.Hour))
	s.Expect(s.deletion().Done).To(BeFalse(), "not before the Job could start")
	s.clock.SetTime(since.Add(time.Hour + lastTry - time.Second))
	s.Expect(s.deletion().Done).To(BeFalse())
	s.clock.SetTime(since.Add(time.Hour + lastTry))
	s.Expect(s.deletion()).To(And(HaveField("Done", true), HaveField("Incomplete", true)))
}

func TestDeletionEndsIfTheClockOfTheClusterIsAhead(t *testing.T) {
	g := NewWithT(t)
	job := hooks.Job{Since: since, Now: since.Add(10 * time.Minute), Settings: hooks.Settings{FinalSnapshotTimeout: 10 * time.Minute}}
	g.Expect(outcomeOfDeletion(result{problem: "slow", started: job.Now.Add(time.Second)}, job).Done).To(BeFalse(), "a little")
	g.Expect(outcomeOfDeletion(result{problem: "slow", started: job.Now.Add(time.Hour)}, job)).
		To(And(HaveField("Done", true), HaveField("Incomplete", true)))
}

func TestDeletionWithTheSnapshot(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.deletion()
	s.end(batchv1.JobComplete, record)
	first := s.deletion()
	s.Expect(first.Message).To(HavePrefix("an etcd snapshot is stored in s3://bucket/foo as u1/default.quick/final/before-deletion.db: revision 7"))
	s.job.Settings.SnapshotURL = "s3://another"
	s.clock.SetTime(since.Add(time.Hour))
	s.Expect(s.deletion()).To(Equal(first), "a snapshot from after the clean-up would lack what that deletes")
}

// Another ExtensionConfig may ask for a snapshot once the clean-up of the first one has begun. Its Job must
// find the snapshot that is stored, instead of replacing it with one that lacks what the clean-up deletes.
func TestDeletionKeepsTheSnapshotOfAnotherJob(t *testing.T) {
	s := newStory(t, stacked, nil)
	deleted := metav1.NewTime(since.Add(-time.Hour))
	s.job.Cluster.DeletionTimestamp = &deleted
	s.deletion()
	request, err := snapshotjob.ParseRequest(s.onlyJob().Spec.Template.Spec.Containers[0].Args)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(request.Since).To(BeTemporally("==", deleted.Time))
	s.clock.SetTime(since.Add(9 * time.Minute))
	s.Expect(s.deletion().RetryAfter).To(Equal(lookAgain), "its time counts from the call of the hook")
}

func TestDeletionWithoutASnapshot(t *testing.T) {
	s := newStory(t, "etcd:\n  external: {}\n", nil)
	s.Expect(s.deletion()).To(Equal(hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane does not run etcd"}))
	s = newStory(t, "", nil)
	s.Expect(s.deletion()).To(Equal(hooks.Outcome{
		Done: true, Incomplete: true, Message: "no final etcd snapshot was taken: kubeadm has not created the control plane, so nothing is known about its etcd",
	}))
}

// A move or a restore loses the status of a Cluster.
func TestDeletionOfAClusterThatWasNeverInitialized(t *testing.T) {
	s := newStory(t, stacked, nil)
	s.job.Cluster.Status = clusterv1.ClusterStatus{}
	s.job.Cluster.Spec.ControlPlaneRef.Name = "quick"
	s.Expect(s.deletion()).To(HaveField("Done", false), "only the status says so")
	s.job.Cluster.Annotations = map[string]string{runtimev1.PendingHooksAnnotation: hooks.AfterControlPlaneInitialized}
	s.Expect(s.deletion()).To(Equal(hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}))
}

// The snapshots of Clusters that are deleted together must not wait for each other.
func TestManyClustersAreDeletedAtOnce(t *testing.T) {
	s := newStory(t, stacked, nil)
	for i := range 20 {
		s.job.Cluster.UID = types.UID(fmt.Sprint("u", i))
		s.Expect(s.deletion().Message).To(MatchRegexp("^waiting at most 10m0s for a final etcd snapshot: " + unfinished + "$"))
	}
	s.Expect(s.jobs()).To(HaveLen(20))
}
