// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// management returns a client of a management cluster with the objects.
func management(g Gomega, objects ...client.Object) client.Client {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, runtimev1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func registration(name string, settings map[string]string) *runtimev1.ExtensionConfig {
	return &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtimev1.ExtensionConfigSpec{Settings: settings}}
}

// recorder is a task that records the jobs that it gets.
type recorder struct{ jobs []Job }

func (*recorder) Wanted(map[string]string) (bool, error) { return true, nil }

func (r *recorder) Run(_ context.Context, job Job) (Outcome, error) {
	r.jobs = append(r.jobs, job)
	return Outcome{Done: true, Message: "done"}, nil
}

func TestWhoWritesAJobDoesNotSetHowItIsDone(t *testing.T) {
	mine := map[string]string{"snapshotURL": "s3://mine"}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}}
	for config, want := range map[string]struct {
		settings []map[string]string
		message  string
	}{
		"foo":    {[]map[string]string{mine}, "done"},
		"theirs": {nil, `nothing is done: there is no ExtensionConfig "theirs"`},
		"":       {nil, `nothing is done: there is no ExtensionConfig ""`},
	} {
		t.Run(config, func(t *testing.T) {
			g := NewWithT(t)
			made := record(Job{Cluster: client.ObjectKeyFromObject(cluster), UID: cluster.UID, Hook: "BeforeControlPlaneUpgrade", config: config})
			made.Data["settings"] = `{"snapshotURL":"s3://theirs?endpoint=https://theirs.example"}`
			live, task := management(g, cluster, made, registration("foo", mine)), &recorder{}
			doing := &worker{cached: live, client: live, tasks: map[string]Task{"BeforeControlPlaneUpgrade": task}}
			_, err := doing.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(made)})
			g.Expect(err).NotTo(HaveOccurred())
			var settings []map[string]string
			for _, job := range task.jobs {
				settings = append(settings, job.Settings)
			}
			g.Expect(settings).To(Equal(want.settings))
			g.Expect(live.Get(context.Background(), client.ObjectKeyFromObject(made), made)).To(Succeed())
			g.Expect(made.Data[MessageKey]).To(Equal(want.message))
		})
	}
}

// A replica with a stale cache must not do a finished job again.
func TestNoJobIsDoneTwice(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}}
	made := record(Job{Cluster: client.ObjectKeyFromObject(cluster), UID: cluster.UID, Hook: "BeforeControlPlaneUpgrade", config: "foo"})
	objects := []client.Object{cluster, made, registration("foo", nil)}
	behind, live, task := management(g, objects...), management(g, objects...), &recorder{}
	doing := &worker{cached: behind, client: live, tasks: map[string]Task{"BeforeControlPlaneUpgrade": task}}
	for range 2 {
		_, err := doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(made)})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(task.jobs).To(HaveLen(1))
}

func TestSettingsAreOnesOfAnExtensionConfig(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	given := map[string]string{"work": "Enabled"}
	live := management(g, registration("other", given), registration("foo", given), registration("plain", nil))
	g.Expect(configOf(ctx, live, given, "")).To(Equal("foo"))
	g.Expect(configOf(ctx, live, given, "other")).To(Equal("other"), "the one that was found last time")
	g.Expect(configOf(ctx, live, given, "plain")).To(Equal("foo"), "its settings have changed")
	g.Expect(configOf(ctx, live, map[string]string{}, "")).To(Equal("plain"))
	_, err := configOf(ctx, live, map[string]string{"work": "Enabled", "more": "x"}, "foo")
	g.Expect(err).To(MatchError(errUnregistered))

	ledger := NewLedger(live, live)
	job := Job{Cluster: types.NamespacedName{Namespace: "team", Name: "blue"}, UID: "uid", Hook: "BeforeClusterDelete", Settings: map[string]string{"work": "x"}}
	_, err = ledger.Ask(ctx, job)
	g.Expect(err).To(MatchError(errUnregistered))
	g.Expect(live.Get(ctx, job.key(), &corev1.ConfigMap{})).To(MatchError(apierrors.IsNotFound, "NotFound"), "nothing is written down")
	job.Settings = given
	g.Expect(ledger.Ask(ctx, job)).To(Equal(Answer{State: Pending}))
	known := &corev1.ConfigMap{}
	g.Expect(live.Get(ctx, job.key(), known)).To(Succeed())
	g.Expect(known.Data).To(HaveKeyWithValue(configKey, "foo"))
	job.Settings, job.Plan = nil, []string{"v1.36.3"}
	g.Expect(ledger.Ask(ctx, job)).To(Equal(Answer{State: Pending}))
	g.Expect(live.Get(ctx, job.key(), known)).To(Succeed())
	g.Expect(known.Data).To(And(HaveKeyWithValue(configKey, "plain"), HaveKeyWithValue(planKey, "v1.36.3")))
	job.Settings, job.Plan = map[string]string{"work": "of old"}, []string{"v1.37.0"}
	g.Expect(ledger.Ask(ctx, job)).To(Equal(Answer{State: Pending}), "a call from before a change")
	g.Expect(live.Get(ctx, job.key(), known)).To(Succeed())
	g.Expect(known.Data).To(And(HaveKeyWithValue(configKey, "plain"), HaveKeyWithValue(planKey, "v1.37.0")))
}
