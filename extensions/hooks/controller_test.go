// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
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

func (*recorder) Wanted(settings Settings) bool { return settings.SmokeChecks }

func (r *recorder) Run(_ context.Context, job Job) (Outcome, error) {
	r.jobs = append(r.jobs, job)
	return Outcome{Done: true, Message: "done"}, nil
}

// upgradeOf returns a call of BeforeControlPlaneUpgrade for a Cluster.
func upgradeOf(cluster *clusterv1.Cluster) call {
	return call{cluster: cluster, hook: BeforeControlPlaneUpgrade, from: "v1.35.4", to: "v1.36.3"}
}

func TestWhoWritesAJobDoesNotSetHowItIsDone(t *testing.T) {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}}
	for config, want := range map[string]struct {
		timeouts []time.Duration
		message  string
	}{
		"foo":    {[]time.Duration{time.Minute}, "done"},
		"theirs": {nil, `nothing is done: there is no ExtensionConfig "theirs"`},
		"":       {nil, `nothing is done: there is no ExtensionConfig ""`},
	} {
		t.Run(config, func(t *testing.T) {
			g := NewWithT(t)
			recorded := newRecord(upgradeOf(cluster))
			recorded.config = config
			made := recorded.configMap()
			made.Data["settings"] = `{"smokeChecksTimeout":"24h"}`
			task := &recorder{}
			live := management(g, cluster, made, registration("foo", map[string]string{"smokeChecks": "Enabled", "smokeChecksTimeout": "1m"}))
			doing := &worker{cached: live, client: live, tasks: Tasks{BeforeControlPlaneUpgrade: {task}}}
			_, err := doing.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(made)})
			g.Expect(err).NotTo(HaveOccurred())
			var timeouts []time.Duration
			for _, job := range task.jobs {
				timeouts = append(timeouts, job.Settings.SmokeChecksTimeout)
			}
			g.Expect(timeouts).To(Equal(want.timeouts))
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
	recorded := newRecord(upgradeOf(cluster))
	recorded.config = "foo"
	made := recorded.configMap()
	objects := []client.Object{cluster, made, registration("foo", map[string]string{"smokeChecks": "Enabled"})}
	behind, live, task := management(g, objects...), management(g, objects...), &recorder{}
	doing := &worker{cached: behind, client: live, tasks: Tasks{BeforeControlPlaneUpgrade: {task}}}
	for range 2 {
		_, err := doing.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(made)})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(task.jobs).To(HaveLen(1))
}

func TestSettingsAreOnesOfAnExtensionConfig(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	given := map[string]string{"smokeChecks": "Enabled"}
	live := management(g, registration("other", given), registration("foo", given), registration("plain", nil))
	g.Expect(configOf(ctx, live, given, "")).To(Equal("foo"))
	g.Expect(configOf(ctx, live, given, "other")).To(Equal("other"), "the one that was found last time")
	g.Expect(configOf(ctx, live, given, "plain")).To(Equal("foo"), "its settings have changed")
	g.Expect(configOf(ctx, live, map[string]string{}, "")).To(Equal("plain"))
	_, err := configOf(ctx, live, map[string]string{"smokeChecks": "Enabled", "more": "x"}, "foo")
	g.Expect(err).To(MatchError(errUnregistered))

	ledger := ledger{cached: live, client: live}
	asked := upgradeOf(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}})
	key := newRecord(asked).key()
	asked.settings = map[string]string{"smokeChecks": "x"}
	_, err = ledger.ask(ctx, asked)
	g.Expect(err).To(MatchError(errUnregistered))
	g.Expect(live.Get(ctx, key, &corev1.ConfigMap{})).To(MatchError(apierrors.IsNotFound, "NotFound"), "nothing is written down")
	asked.settings = given
	g.Expect(ledger.ask(ctx, asked)).To(Equal(progress{state: Pending}))
	known := &corev1.ConfigMap{}
	g.Expect(live.Get(ctx, key, known)).To(Succeed())
	g.Expect(known.Data).To(HaveKeyWithValue(configKey, "foo"))
	asked.settings, asked.steps = nil, []runtimehooksv1.UpgradeStepInfo{{Version: "v1.36.3"}}
	g.Expect(ledger.ask(ctx, asked)).To(Equal(progress{state: Pending}))
	g.Expect(live.Get(ctx, key, known)).To(Succeed())
	g.Expect(known.Data).To(And(HaveKeyWithValue(configKey, "plain"), HaveKeyWithValue(planKey, "v1.36.3")))
	asked.settings, asked.steps = map[string]string{"smokeChecks": "of old"}, []runtimehooksv1.UpgradeStepInfo{{Version: "v1.37.0"}}
	g.Expect(ledger.ask(ctx, asked)).To(Equal(progress{state: Pending}), "a call from before a change")
	g.Expect(live.Get(ctx, key, known)).To(Succeed())
	g.Expect(known.Data).To(And(HaveKeyWithValue(configKey, "plain"), HaveKeyWithValue(planKey, "v1.37.0")))
}
