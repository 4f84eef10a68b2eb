// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
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

func upgradeJob(settings hooks.Settings) hooks.Job {
	return hooks.Job{
		Cluster: initialized(), Hook: hooks.BeforeControlPlaneUpgrade, From: "v1.35.4", To: "v1.36.3", Settings: settings, Since: since,
	}
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

func on(t *testing.T, more map[string]string) hooks.Settings {
	given := map[string]string{"snapshots": "Enabled", "finalSnapshot": "Enabled", "snapshotURL": "file://" + t.TempDir()}
	maps.Copy(given, more)
	settings, err := hooks.ParseSettings(given)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return settings
}

func TestOffUntilTurnedOn(t *testing.T) {
	g := NewWithT(t)
	for _, task := range []hooks.Task{BeforeControlPlaneUpgrade(nil), BeforeClusterDelete(nil)} {
		g.Expect(task.Wanted(hooks.Settings{SnapshotURL: "s3://bucket"})).To(BeFalse())
		g.Expect(task.Wanted(on(t, nil))).To(BeTrue())
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
			want := hooks.Outcome{Message: test.want, RetryAfter: patience}
			job := upgradeJob(on(t, nil))
			g.Expect(BeforeControlPlaneUpgrade(failing(test.first)).Run(context.Background(), job)).To(Equal(want))
			g.Expect(BeforeControlPlaneUpgrade(failing(test.second)).Run(context.Background(), job)).To(Equal(want), "the same words for the same state")
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
		g.Expect(BeforeControlPlaneUpgrade(failing(err)).Run(context.Background(), job)).To(Equal(hooks.Outcome{
			Done: true, Message: "no etcd snapshot was taken, as the setting snapshotExternalEtcd allows: " + text,
		}))
	}
	outcome, err := BeforeControlPlaneUpgrade(failing(refused(1))).Run(context.Background(), job)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outcome.Done).To(BeFalse(), "a cluster that does not answer is another matter")
}

func TestBucketThatCanNotBeReached(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	job := upgradeJob(on(t, map[string]string{"snapshotURL": "file://" + file + "/folder"}))
	g.Expect(BeforeControlPlaneUpgrade(failing(nil)).Run(context.Background(), job)).To(Equal(hooks.Outcome{
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
			job := upgradeJob(on(t, nil))
			job.Cluster = initialized(test.versions...)
			outcome, err := BeforeControlPlaneUpgrade(reached).Run(context.Background(), job)
			g.Expect(err).NotTo(HaveOccurred())
			if test.want == "" {
				g.Expect(outcome).To(And(HaveField("Done", false), HaveField("Message", HavePrefix("waiting for an etcd snapshot: "))))
				return
			}
			g.Expect(outcome).To(Equal(hooks.Outcome{Done: true, Message: test.want}))
		})
	}
}

func TestDeletionEnds(t *testing.T) {
	g := NewWithT(t)
	job := upgradeJob(on(t, map[string]string{"finalSnapshotTimeout": "5m"}))
	at := func(after time.Duration, err error) hooks.Outcome {
		task := deletion{taker: taker{etcd: failing(err)}, now: func() time.Time { return since.Add(after) }}
		outcome, err := task.Run(context.Background(), job)
		g.Expect(err).NotTo(HaveOccurred())
		return outcome
	}
	waiting := "waiting at most 5m0s for a final etcd snapshot: the workload cluster cannot be queried: no connection"
	g.Expect(at(0, refused(1))).To(Equal(hooks.Outcome{Message: waiting, RetryAfter: patience}))
	g.Expect(at(5*time.Minute-time.Second, refused(2))).To(Equal(hooks.Outcome{Message: waiting, RetryAfter: time.Second}))
	g.Expect(at(5*time.Minute, refused(3))).To(Equal(hooks.Outcome{
		Done: true, Message: "no final etcd snapshot was taken within 5m0s: the workload cluster cannot be queried: no connection",
	}))
	g.Expect(at(0, workload.ErrEtcdUnmanaged)).To(Equal(hooks.Outcome{
		Done: true, Message: "no final etcd snapshot was taken: the control plane does not run etcd",
	}))
	g.Expect(at(0, errBusy).RetryAfter).To(Equal(time.Second), "of many that are deleted at once, each gets its turn")
	g.Expect(at(0, notFound("quick-etcd")).Done).To(BeFalse(), "its Secret may come back")
}

func TestDeletionOfWhatNeverWas(t *testing.T) {
	g := NewWithT(t)
	reached := failing(errors.New("nobody is to be asked"))
	want := hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}
	job := upgradeJob(on(t, nil))
	job.Cluster.Status.Initialization.ControlPlaneInitialized = nil
	g.Expect(BeforeClusterDelete(reached).Run(context.Background(), job)).To(Equal(want))
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
	_, err := BeforeControlPlaneUpgrade(measure("upgrade")).Run(context.Background(), upgradeJob(given))
	g.Expect(err).NotTo(HaveOccurred())
	for name, after := range map[string]time.Duration{"early": 0, "late": 4 * time.Minute, "too late": time.Hour} {
		task := deletion{taker: taker{etcd: measure(name)}, now: func() time.Time { return since.Add(after) }}
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
