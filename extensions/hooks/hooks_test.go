// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

func TestTasksRunInTheirOrder(t *testing.T) {
	done := func(message string) Outcome {
		return Outcome{Done: true, Message: message, Report: "report of " + message + "\n"}
	}
	waits := Outcome{Message: "waits", Report: "so far"}
	type step struct {
		wanted  bool
		outcome Outcome
		err     error
	}
	for name, test := range map[string]struct {
		a, b    step
		want    Outcome
		runs    []string
		wantErr string
	}{
		"one after the other": {a: step{wanted: true, outcome: done("a")}, b: step{wanted: true, outcome: done("b")}, runs: []string{"a", "b"},
			want: Outcome{Done: true, Message: "a; b", Report: "report of a\nreport of b"}},
		"the second waits for the first": {a: step{wanted: true, outcome: waits}, b: step{wanted: true}, runs: []string{"a"}, want: waits},
		"the second waits": {a: step{wanted: true, outcome: done("a")}, b: step{wanted: true, outcome: waits}, runs: []string{"a", "b"},
			want: Outcome{Message: "waits", Report: "report of a\nso far"}},
		"one that is not wanted": {a: step{outcome: waits}, b: step{wanted: true, outcome: done("b")}, runs: []string{"b"},
			want: Outcome{Done: true, Message: "b", Report: "report of b"}},
		"one that ends the work": {a: step{wanted: true, outcome: Outcome{Done: true, Message: "a", Incomplete: true, Last: true}}, b: step{wanted: true, outcome: done("b")}, runs: []string{"a"},
			want: Outcome{Done: true, Message: "a", Incomplete: true}},
		"one that is incomplete": {a: step{wanted: true, outcome: Outcome{Done: true, Message: "a", Incomplete: true}}, b: step{wanted: true, outcome: Outcome{Done: true}}, runs: []string{"a", "b"},
			want: Outcome{Done: true, Message: "a", Incomplete: true}},
		"one with a snapshot": {a: step{wanted: true, outcome: Outcome{Done: true, SnapshotTime: time.Unix(1, 0)}}, b: step{wanted: true, outcome: Outcome{Message: "waits"}}, runs: []string{"a", "b"},
			want: Outcome{Message: "waits", SnapshotTime: time.Unix(1, 0)}},
		"none":           {want: Outcome{Done: true}},
		"one that fails": {a: step{wanted: true, err: errors.New("failed")}, b: step{wanted: true}, runs: []string{"a"}, wantErr: "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var runs []string
			given := map[string]string{"a": disabled, "b": disabled}
			task := func(name string, step step) Task {
				if step.wanted {
					given[name] = enabled
				}
				return Task{Setting: name, Run: func(context.Context, Job) (Outcome, error) {
					runs = append(runs, name)
					return step.outcome, step.err
				}}
			}
			tasks := []Task{task("a", test.a), task("b", test.b)}
			outcome, err := Tasks{"hook": tasks}.run(context.Background(), Job{Hook: "hook", Settings: Settings{given: given}}, nil, nil)
			if test.wantErr != "" {
				g.Expect(err).To(MatchError(test.wantErr))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(outcome).To(Equal(test.want))
			g.Expect(runs).To(Equal(test.runs))
		})
	}
}

func TestJobsHaveTheirNames(t *testing.T) {
	g := NewWithT(t)
	asked := func(changes ...func(*call)) client.ObjectKey {
		made := call{
			cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}},
			hook:    BeforeControlPlaneUpgrade, from: "v1.35.4", to: "v1.36.3",
		}
		for _, change := range changes {
			change(&made)
		}
		return client.ObjectKeyFromObject(newJob(made, "foo", time.Now()))
	}
	g.Expect(asked(func(c *call) { c.steps = []runtimehooksv1.UpgradeStepInfo{{Version: "v1.36.3"}} })).To(Equal(asked()), "the plan may change")
	for _, change := range []func(*call){
		func(c *call) { c.cluster.UID = "other" }, func(c *call) { c.from = "v1.34.0" }, func(c *call) { c.to = "v1.36.4" },
		func(c *call) { c.hook = BeforeWorkersUpgrade }, func(c *call) { c.cluster.Name = "green" }, func(c *call) { c.cluster.Namespace = "other" },
		func(c *call) { c.from, c.to = "", c.from+"\n"+c.to },
	} {
		g.Expect(asked(change)).NotTo(Equal(asked()))
	}
	another := newJob(call{cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}},
		hook: BeforeControlPlaneUpgrade, from: "v1.35.4", to: "v1.36.3"}, "other", time.Now())
	g.Expect(client.ObjectKeyFromObject(another)).NotTo(Equal(asked()), "of another ExtensionConfig")
}

func TestActionFor(t *testing.T) {
	asked := extensionv1.HookJobSpec{
		ClusterUID: "uid", Hook: BeforeControlPlaneUpgrade, FromVersion: "v1.35.4", ToVersion: "v1.36.3", Plan: []string{"v1.36.3", "v1.37.0"},
	}
	owned := []metav1.OwnerReference{{UID: "uid"}}
	due := action{due: true}
	moved := "nothing is done: the Cluster was moved here, and its hooks are called again"
	elsewhere := "nothing is done: the topology has version v1.36.4, which this upgrade does not lead to"
	for name, test := range map[string]struct {
		change func(*clusterv1.Cluster, *extensionv1.HookJob)
		want   action
	}{
		"due":                         {func(*clusterv1.Cluster, *extensionv1.HookJob) {}, due},
		"another Cluster of the name": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) { c.UID = "other" }, action{}},
		"moved": {func(_ *clusterv1.Cluster, j *extensionv1.HookJob) {
			j.Spec.ClusterUID, j.OwnerReferences = "before", owned
		}, action{note: &Outcome{Done: true, Message: moved}}},
		"moved, and not called again": {
			func(_ *clusterv1.Cluster, j *extensionv1.HookJob) {
				j.Spec.ClusterUID, j.OwnerReferences, j.Spec.Hook, j.Spec.Plan = "before", owned, AfterControlPlaneInitialized, nil
			},
			due,
		},
		"being moved": {
			func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
				c.Spec.Paused, j.Spec.ClusterUID, j.OwnerReferences = ptr.To(true), "before", owned
			},
			action{},
		},
		"paused": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) { c.Spec.Paused = ptr.To(true) }, action{}},
		"paused by an annotation": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
			c.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		}, action{}},
		"being deleted": {
			func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
				c.DeletionTimestamp, j.Spec.Hook, j.Spec.Plan = ptr.To(metav1.Now()), AfterControlPlaneInitialized, nil
			},
			action{note: &Outcome{Done: true, Message: "nothing is done: the Cluster is being deleted"}},
		},
		"no longer paused": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) { c.Spec.Paused = ptr.To(false) }, due},
		"another hook is skipped": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
			c.Annotations = map[string]string{SkipAnnotation: "BeforeClusterUpgrade"}
		}, due},
		"an upgrade to a version between": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) { c.Spec.Topology.Version = "v1.36.3" }, due},
		"versions without a v":            {func(_ *clusterv1.Cluster, j *extensionv1.HookJob) { j.Spec.Plan = []string{"1.36.3", "1.37.0"} }, due},
		"another build of a version": {func(_ *clusterv1.Cluster, j *extensionv1.HookJob) { j.Spec.Plan = []string{"1.37.0+x"} },
			action{note: &Outcome{Message: "nothing is done: the topology has version v1.37.0, which this upgrade does not lead to", resting: true}}},
		"an upgrade to another version": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) { c.Spec.Topology.Version = "v1.36.4" }, action{note: &Outcome{Message: elsewhere, resting: true}}},
		"a hook without a plan": {func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
			c.Spec.Topology.Version, j.Spec.Plan = "v1.36.4", nil
		}, due},
		"a step that is over": {func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
			j.Spec.Plan = nil
			c.Status.ControlPlane = versions("v1.36.3", "v1.37.0")
		}, action{note: &Outcome{Done: true, Message: "nothing is done: the control plane already has version v1.37.0"}}},
		"a step that is over within a minor version": {func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
			c.Spec.Topology.Version, j.Spec.Plan = "v1.36.5", nil
			c.Status.ControlPlane = versions("v1.36.3", "v1.36.5")
		}, action{note: &Outcome{Done: true, Message: "nothing is done: the control plane already has version v1.36.5"}}},
		"the last step of a control plane that patches itself": {func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
			c.Spec.Topology.Version, j.Spec.Plan = "v1.36.3", nil
			c.Status.ControlPlane = versions("v1.36.5")
		}, due},
		"another step of a control plane that patches itself": {func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
			c.Status.ControlPlane = versions("v1.36.5")
		}, due},
		"a step whose version the control plane has": {
			func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
				c.Status.ControlPlane = versions("unknown", "v1.36.3")
			}, due,
		},
		"a step to a version that nobody wants": {func(_ *clusterv1.Cluster, j *extensionv1.HookJob) {
			j.Spec.ToVersion, j.Spec.Plan = "v9.9.9", nil
		}, action{note: &Outcome{Message: "nothing is done: the topology has version v1.37.0, which this upgrade does not lead to", resting: true}}},
		"a deletion that nobody has asked for": {
			func(_ *clusterv1.Cluster, j *extensionv1.HookJob) {
				j.Spec.Hook, j.Spec.Plan = BeforeClusterDelete, nil
			},
			action{note: &Outcome{Message: "nothing is done: the Cluster is not being deleted", resting: true}},
		},
		"a deletion": {
			func(c *clusterv1.Cluster, j *extensionv1.HookJob) {
				c.DeletionTimestamp, j.Spec.Hook, j.Spec.Plan = ptr.To(metav1.Now()), BeforeClusterDelete, nil
			},
			due,
		},
		"skipped": {
			func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
				c.Annotations = map[string]string{SkipAnnotation: "Other, BeforeControlPlaneUpgrade"}
			},
			action{note: &Outcome{Done: true, Message: "skipped: the annotation foo.cluster.x-k8s.io/skip-hooks names BeforeControlPlaneUpgrade"}},
		},
		"skipped while it is paused": {
			func(c *clusterv1.Cluster, _ *extensionv1.HookJob) {
				c.Annotations = map[string]string{SkipAnnotation: "BeforeControlPlaneUpgrade"}
				c.Spec.Paused = ptr.To(true)
			},
			action{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "uid"}, Spec: clusterv1.ClusterSpec{Topology: clusterv1.Topology{Version: "v1.37.0"}}}
			job := &extensionv1.HookJob{Spec: asked}
			test.change(cluster, job)
			g.Expect(actionFor(job, cluster)).To(Equal(test.want))
		})
	}
}

// versions is the status of a control plane whose machines have these versions.
func versions(has ...string) *clusterv1.ClusterControlPlaneStatus {
	status := &clusterv1.ClusterControlPlaneStatus{}
	for _, version := range has {
		status.Versions = append(status.Versions, clusterv1.StatusVersion{Version: version, Replicas: 1})
	}
	return status
}

func TestNeverInitialized(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*clusterv1.Cluster)
		want   bool
	}{
		"no control plane yet": {func(c *clusterv1.Cluster) { c.Spec.ControlPlaneRef.Name = "" }, true},
		"not initialized yet":  {func(*clusterv1.Cluster) {}, true},
		"initialized, and the hook is not called yet": {
			func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = ptr.To(true) }, false,
		},
		"the status is lost": {func(c *clusterv1.Cluster) { c.Annotations = nil }, false},
		"the status is lost during an upgrade": {
			func(c *clusterv1.Cluster) { c.Annotations[runtimev1.PendingHooksAnnotation] = AfterClusterUpgrade }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed := cluster.DeepCopy()
			changed.Spec.ControlPlaneRef.Name = "blue"
			changed.Annotations = map[string]string{runtimev1.PendingHooksAnnotation: AfterClusterUpgrade + "," + AfterControlPlaneInitialized}
			test.change(changed)
			NewWithT(t).Expect(NeverInitialized(changed)).To(Equal(test.want))
		})
	}
}

func TestBackoffIsShort(t *testing.T) {
	g := NewWithT(t)
	limiter := rateLimiter()
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "blue"}}
	g.Expect(limiter.When(request)).To(Equal(100 * time.Millisecond))
	for range 30 {
		limiter.When(request)
	}
	g.Expect(limiter.When(request)).To(Equal(15 * time.Second))
	g.Expect(limiter.When(reconcile.Request{})).To(Equal(100*time.Millisecond), "others do not wait for it")
	limiter.Forget(request)
	g.Expect(limiter.When(request)).To(Equal(100 * time.Millisecond))
}
