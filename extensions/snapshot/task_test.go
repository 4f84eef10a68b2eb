// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

var (
	key   = client.ObjectKey{Namespace: "default", Name: "quick"}
	since = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// etcdFunc implements Etcd with a function.
type etcdFunc func(do func(context.Context, workload.EtcdMember) error) error

func (f etcdFunc) WithHealthyEtcdMember(ctx context.Context, _ client.ObjectKey, do func(context.Context, workload.EtcdMember) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(do)
}

func failing(err error) Etcd {
	return etcdFunc(func(func(context.Context, workload.EtcdMember) error) error { return err })
}

func upgradeJob(given map[string]string) work.Job {
	return work.Job{Cluster: key, UID: "u1", Hook: "BeforeControlPlaneUpgrade", From: "v1.35.4", To: "v1.36.3", Settings: given, Since: since}
}

func on(t *testing.T, more map[string]string) map[string]string {
	given := map[string]string{"snapshots": "Enabled", "finalSnapshot": "Enabled", "snapshotURL": "file://" + t.TempDir()}
	for name, value := range more {
		given[name] = value
	}
	return given
}

func TestOffUntilTurnedOn(t *testing.T) {
	g := NewWithT(t)
	reached := failing(errors.New("nobody is to be asked"))
	for _, task := range []work.Task{BeforeControlPlaneUpgrade(nil, reached), BeforeClusterDelete(nil, reached)} {
		for _, given := range []map[string]string{nil, {"snapshotURL": "nonsense"}, {"snapshots": "Disabled", "finalSnapshot": "Disabled"}} {
			g.Expect(task.Wanted(given)).To(BeFalse())
			g.Expect(task.Run(context.Background(), work.Job{Settings: given})).To(Equal(work.Outcome{Done: true}))
		}
		g.Expect(task.Wanted(on(t, nil))).To(BeTrue())
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	for want, change := range map[string]map[string]string{
		"setting snapshotURL of the ExtensionConfig is missing, but ":                                       {"snapshotURL": ""},
		`setting snapshotURL of the ExtensionConfig: its scheme is "ftp", want one of file, s3, gs, azblob`: {"snapshotURL": "ftp://u:hunter2@host"},
		"setting snapshotURL of the ExtensionConfig: it names no absolute folder":                           {"snapshotURL": "file://hunter2/snapshots"},
		"setting snapshotURL of the ExtensionConfig: it contains a user name or password":                   {"snapshotURL": "s3://u:hunter2@bucket"},
		`setting snapshotsKept of the ExtensionConfig is "0"`:                                               {"snapshotsKept": "0"},
		`setting snapshotTimeout of the ExtensionConfig is "soon"`:                                          {"snapshotTimeout": "soon"},
		`setting finalSnapshotTimeout of the ExtensionConfig is "48h"`:                                      {"finalSnapshotTimeout": "48h"},
		`setting snapshotExternalEtcd of the ExtensionConfig is "No", want Hold or Skip`:                    {"snapshotExternalEtcd": "No"},
	} {
		t.Run(want, func(t *testing.T) {
			g := NewWithT(t)
			for _, task := range []work.Task{BeforeControlPlaneUpgrade(nil, nil), BeforeClusterDelete(nil, nil)} {
				_, err := task.Wanted(on(t, change))
				g.Expect(err).To(MatchError(And(HavePrefix(want), Not(ContainSubstring("hunter2")))))
				_, again := task.Run(context.Background(), upgradeJob(on(t, change)))
				g.Expect(again).To(MatchError(err.Error()))
			}
		})
	}
}

func TestSettingsAreDescribed(t *testing.T) {
	g := NewWithT(t)
	given := on(t, map[string]string{
		"snapshotsKept": "1", "snapshotTimeout": "1m", "finalSnapshotTimeout": "1m", "snapshotExternalEtcd": "Skip",
	})
	g.Expect(settings.CheckNames(given, Settings())).To(Succeed(), "what is read is described")
	g.Expect(Settings()).To(HaveLen(len(given)))
	for _, doc := range Settings() {
		g.Expect(doc.Meaning).NotTo(BeEmpty())
		g.Expect(doc.Allowed).NotTo(BeEmpty())
	}
}

func notFound(name string) error {
	return fmt.Errorf("getting the secret %s: %w", name, apierrors.NewNotFound(corev1.Resource("secrets"), name))
}

// refused is the error for an API server that is gone, from a different port each time.
func refused(port int) error {
	return &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: errors.New("connection reset by hunter2")}
}

func TestUpgradeIsHeld(t *testing.T) {
	held := "no etcd snapshot can be taken: %s; take one yourself, then name BeforeControlPlaneUpgrade in the annotation foo.cluster.x-k8s.io/skip-hooks, or set snapshotExternalEtcd to Skip"
	for name, test := range map[string]struct {
		first, second error
		want          string
	}{
		"external etcd": {
			workload.ErrEtcdUnmanaged, fmt.Errorf("secret quick-etcd: %w", workload.ErrEtcdUnmanaged),
			fmt.Sprintf(held, "the control plane does not run etcd"),
		},
		"no authority of etcd": {
			notFound("quick-etcd"), notFound("quick-etcd"),
			fmt.Sprintf(held, "etcd cannot be reached without the Secret default/quick-etcd, which holds its CA"),
		},
		"no kubeconfig": {
			notFound("quick-kubeconfig"), notFound("quick-kubeconfig"),
			"waiting for an etcd snapshot: the workload cluster cannot be reached without the Secret default/quick-kubeconfig",
		},
		"no healthy member": {
			fmt.Errorf("%w: at 12:00", workload.ErrNoHealthyMember), fmt.Errorf("%w: at 12:01", workload.ErrNoHealthyMember),
			"waiting for an etcd snapshot: etcd has no healthy member",
		},
		"no answer":     {refused(1), refused(2), "waiting for an etcd snapshot: the workload cluster cannot be queried: no connection"},
		"it takes long": {context.DeadlineExceeded, context.DeadlineExceeded, "waiting for an etcd snapshot: the workload cluster cannot be queried: no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := work.Outcome{Message: test.want, RetryAfter: patience}
			job := upgradeJob(on(t, nil))
			g.Expect(BeforeControlPlaneUpgrade(clusters(g, true), failing(test.first)).Run(context.Background(), job)).To(Equal(want))
			g.Expect(BeforeControlPlaneUpgrade(clusters(g, true), failing(test.second)).Run(context.Background(), job)).To(Equal(want), "the same words for the same state")
		})
	}
}

func TestUpgradeWithExternalEtcdGoesOnIfAllowed(t *testing.T) {
	g := NewWithT(t)
	job := upgradeJob(on(t, map[string]string{"snapshotExternalEtcd": "Skip"}))
	for text, err := range map[string]error{
		"the control plane does not run etcd":                                              workload.ErrEtcdUnmanaged,
		"etcd cannot be reached without the Secret default/quick-etcd, which holds its CA": notFound("quick-etcd"),
	} {
		g.Expect(BeforeControlPlaneUpgrade(clusters(g, true), failing(err)).Run(context.Background(), job)).To(Equal(work.Outcome{
			Done: true, Message: "no etcd snapshot was taken, as the setting snapshotExternalEtcd allows: " + text,
		}))
	}
	outcome, err := BeforeControlPlaneUpgrade(clusters(g, true), failing(refused(1))).Run(context.Background(), job)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outcome.Done).To(BeFalse(), "a cluster that does not answer is another matter")
}

func TestBucketThatCanNotBeReached(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	job := upgradeJob(on(t, map[string]string{"snapshotURL": "file://" + file + "/folder"}))
	g.Expect(BeforeControlPlaneUpgrade(clusters(g, true), failing(nil)).Run(context.Background(), job)).To(Equal(work.Outcome{
		Message:    "waiting for an etcd snapshot: storing the snapshot in file://" + file + "/folder: not a directory",
		RetryAfter: patience,
	}))
}

func TestStepThatHasBegun(t *testing.T) {
	reached := failing(errors.New("nobody is to be asked"))
	for name, test := range map[string]struct {
		versions []string
		want     string
	}{
		"some machines":  {[]string{"v1.35.4", "v1.36.3"}, "no etcd snapshot was taken: the control plane already has version v1.36.3"},
		"another target": {[]string{"v1.36.0"}, "no etcd snapshot was taken: the control plane already has version v1.36.0"},
		"none yet":       {[]string{"v1.34.1", "v1.35.4", "unknown"}, ""},
		"nobody says":    {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			outcome, err := BeforeControlPlaneUpgrade(clusters(g, true, test.versions...), reached).Run(context.Background(), upgradeJob(on(t, nil)))
			g.Expect(err).NotTo(HaveOccurred())
			if test.want == "" {
				g.Expect(outcome).To(And(HaveField("Done", false), HaveField("Message", HavePrefix("waiting for an etcd snapshot: "))))
				return
			}
			g.Expect(outcome).To(Equal(work.Outcome{Done: true, Message: test.want}))
		})
	}
}

// clusters returns a reader with a Cluster, whose control plane has the versions and was
// initialized or not.
func clusters(g Gomega, initialized bool, versions ...string) client.Reader {
	scheme := fake.NewClientBuilder().Build().Scheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "u1"}}
	if initialized {
		cluster.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	}
	cluster.Status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{}
	for _, version := range versions {
		cluster.Status.ControlPlane.Versions = append(cluster.Status.ControlPlane.Versions, clusterv1.StatusVersion{Version: version})
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).Build()
}

func TestDeletionEnds(t *testing.T) {
	g := NewWithT(t)
	job := upgradeJob(on(t, map[string]string{"finalSnapshotTimeout": "5m"}))
	at := func(after time.Duration, err error) work.Outcome {
		task := deletion{clusters: clusters(g, true), taker: taker{etcd: failing(err)}, now: func() time.Time { return since.Add(after) }}
		outcome, err := task.Run(context.Background(), job)
		g.Expect(err).NotTo(HaveOccurred())
		return outcome
	}
	waiting := "waiting at most 5m0s for a final etcd snapshot: the workload cluster cannot be queried: no connection"
	g.Expect(at(0, refused(1))).To(Equal(work.Outcome{Message: waiting, RetryAfter: patience}))
	g.Expect(at(5*time.Minute-time.Second, refused(2))).To(Equal(work.Outcome{Message: waiting, RetryAfter: time.Second}))
	g.Expect(at(5*time.Minute, refused(3))).To(Equal(work.Outcome{
		Done: true, Message: "no final etcd snapshot was taken within 5m0s: the workload cluster cannot be queried: no connection",
	}))
	g.Expect(at(0, workload.ErrEtcdUnmanaged)).To(Equal(work.Outcome{
		Done: true, Message: "no final etcd snapshot was taken: the control plane does not run etcd",
	}))
	g.Expect(at(0, notFound("quick-etcd")).Done).To(BeFalse(), "its Secret may come back")
}

func TestDeletionOfWhatNeverWas(t *testing.T) {
	g := NewWithT(t)
	reached := failing(errors.New("nobody is to be asked"))
	want := work.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}
	g.Expect(BeforeClusterDelete(clusters(g, false), reached).Run(context.Background(), upgradeJob(on(t, nil)))).To(Equal(want))
	empty := fake.NewClientBuilder().WithScheme(clusters(g, false).(client.Client).Scheme()).Build()
	g.Expect(BeforeClusterDelete(empty, reached).Run(context.Background(), upgradeJob(on(t, nil)))).To(Equal(want))
}

func TestTriesAreBounded(t *testing.T) {
	g := NewWithT(t)
	bounds := map[string]time.Duration{}
	measure := func(name string) Etcd {
		return contextFunc(func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			g.Expect(ok).To(BeTrue())
			bounds[name] = time.Until(deadline)
			return refused(1)
		})
	}
	given := on(t, map[string]string{"snapshotTimeout": "90s", "finalSnapshotTimeout": "5m"})
	_, err := BeforeControlPlaneUpgrade(clusters(g, true), measure("upgrade")).Run(context.Background(), upgradeJob(given))
	g.Expect(err).NotTo(HaveOccurred())
	for name, after := range map[string]time.Duration{"early": 0, "late": 4 * time.Minute, "too late": time.Hour} {
		task := deletion{clusters: clusters(g, true), taker: taker{etcd: measure(name)}, now: func() time.Time { return since.Add(after) }}
		_, err := task.Run(context.Background(), upgradeJob(given))
		g.Expect(err).NotTo(HaveOccurred())
	}
	for name, want := range map[string]time.Duration{
		"upgrade": 90 * time.Second, "early": 90 * time.Second, "late": time.Minute, "too late": time.Minute,
	} {
		g.Expect(bounds[name]).To(And(BeNumerically("<=", want), BeNumerically(">", want-25*time.Second)), name)
	}
}

type contextFunc func(ctx context.Context) error

func (f contextFunc) WithHealthyEtcdMember(ctx context.Context, _ client.ObjectKey, _ func(context.Context, workload.EtcdMember) error) error {
	return f(ctx)
}
