// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// step is a task in a sequence. It is wanted if the settings name it.
type step struct {
	name    string
	outcome Outcome
	err     error
	runs    *[]string
}

func (s step) Wanted(settings map[string]string) (bool, error) {
	if settings[s.name] == "wrong" {
		return false, errors.New(s.name + " is wrong")
	}
	return settings[s.name] != "", nil
}

func (s step) Run(context.Context, Job) (Outcome, error) {
	*s.runs = append(*s.runs, s.name)
	return s.outcome, s.err
}

func TestSequence(t *testing.T) {
	done := func(message string) Outcome {
		return Outcome{Done: true, Message: message, Report: "report of " + message + "\n"}
	}
	waits := Outcome{Message: "waits", Report: "so far"}
	both := map[string]string{"a": "on", "b": "on"}
	tests := []struct {
		name     string
		settings map[string]string
		a, b     Outcome
		fails    error
		want     Outcome
		runs     []string
		wantErr  string
	}{
		{name: "one after the other", settings: both, a: done("a"), b: done("b"), runs: []string{"a", "b"},
			want: Outcome{Done: true, Message: "a; b", Report: "report of a\nreport of b"}},
		{name: "the second waits for the first", settings: both, a: waits, b: done("b"), runs: []string{"a"}, want: waits},
		{name: "the second waits", settings: both, a: done("a"), b: waits, runs: []string{"a", "b"},
			want: Outcome{Message: "waits", Report: "report of a\nso far"}},
		{name: "one that is not wanted", settings: map[string]string{"b": "on"}, a: waits, b: done("b"), runs: []string{"b"},
			want: Outcome{Done: true, Message: "b", Report: "report of b"}},
		{name: "none", want: Outcome{Done: true}},
		{name: "one that fails", settings: both, fails: errors.New("failed"), b: done("b"), runs: []string{"a"}, wantErr: "failed"},
		{name: "wrong settings", settings: map[string]string{"a": "on", "b": "wrong"}, a: done("a"), runs: []string{"a"}, wantErr: "b is wrong"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			var runs []string
			task := Sequence(step{name: "a", outcome: tt.a, err: tt.fails, runs: &runs}, step{name: "b", outcome: tt.b, runs: &runs})
			outcome, err := task.Run(context.Background(), Job{Settings: tt.settings})
			if tt.wantErr != "" {
				g.Expect(err).To(MatchError(tt.wantErr))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(outcome).To(Equal(tt.want))
			g.Expect(runs).To(Equal(tt.runs))
		})
	}
	g := NewWithT(t)
	for settings, want := range map[string]bool{"": false, "a": true, "b": true} {
		g.Expect(Sequence(step{name: "a"}, step{name: "b"}).Wanted(map[string]string{settings: "on"})).To(Equal(want))
	}
	_, err := Sequence(step{name: "a"}, step{name: "b"}).Wanted(map[string]string{"a": "on", "b": "wrong"})
	g.Expect(err).To(MatchError("b is wrong"))
}

func TestRecord(t *testing.T) {
	g := NewWithT(t)
	job := Job{
		Cluster: types.NamespacedName{Namespace: "team", Name: "blue"}, UID: "uid", Hook: "BeforeControlPlaneUpgrade",
		From: "v1.35.4", To: "v1.36.3", Plan: []string{"v1.36.3", "v1.37.0"}, config: "foo", owner: "uid",
	}
	made := record(job)
	g.Expect(read(made)).To(Equal(job))

	t.Run("the same job has the same name, and no other has it", func(t *testing.T) {
		g := NewWithT(t)
		same := job
		same.config, same.Plan = "other", nil
		g.Expect(same.key()).To(Equal(job.key()))
		for _, change := range []func(*Job){
			func(j *Job) { j.UID = "other" }, func(j *Job) { j.From = "v1.34.0" }, func(j *Job) { j.To = "v1.36.4" },
			func(j *Job) { j.Hook = "BeforeWorkersUpgrade" }, func(j *Job) { j.Cluster.Name = "green" }, func(j *Job) { j.Cluster.Namespace = "other" },
			func(j *Job) { j.From, j.To = "", j.From+"\n"+j.To },
		} {
			other := job
			change(&other)
			g.Expect(other.key()).NotTo(Equal(job.key()))
		}
	})

	t.Run("what somebody has changed is not taken for another job", func(t *testing.T) {
		g := NewWithT(t)
		other := made.DeepCopy()
		other.Data[toKey] = "v1.37.0"
		_, err := read(other)
		g.Expect(err).To(MatchError(ContainSubstring("its labels and data belong to the job blue-beforecontrolplaneupgrade-")))
		other.Data = nil
		_, err = read(other)
		g.Expect(err).To(HaveOccurred())
	})
}

func TestJudge(t *testing.T) {
	job := Job{UID: "uid", Hook: "BeforeControlPlaneUpgrade", From: "v1.35.4", To: "v1.36.3", Plan: []string{"v1.36.3", "v1.37.0"}}
	due := verdict{due: true}
	doing := &worker{once: []string{"AfterControlPlaneInitialized"}}
	moved := "nothing is done: the Cluster was moved here, and its hooks are called again"
	elsewhere := "nothing is done: the topology has version v1.36.4, which this upgrade does not lead to"
	for name, test := range map[string]struct {
		change func(*clusterv1.Cluster, *Job)
		want   verdict
	}{
		"due":                         {func(*clusterv1.Cluster, *Job) {}, due},
		"another Cluster of the name": {func(c *clusterv1.Cluster, _ *Job) { c.UID = "other" }, verdict{}},
		"moved":                       {func(_ *clusterv1.Cluster, j *Job) { j.UID, j.owner = "before", "uid" }, verdict{note: &Outcome{Done: true, Message: moved}}},
		"moved, and not called anew": {
			func(_ *clusterv1.Cluster, j *Job) {
				j.UID, j.owner, j.Hook, j.Plan = "before", "uid", "AfterControlPlaneInitialized", nil
			},
			due,
		},
		"being moved": {
			func(c *clusterv1.Cluster, j *Job) {
				c.Spec.Paused, j.UID, j.owner = ptr.To(true), "before", "uid"
			},
			verdict{},
		},
		"paused":           {func(c *clusterv1.Cluster, _ *Job) { c.Spec.Paused = ptr.To(true) }, verdict{}},
		"no longer paused": {func(c *clusterv1.Cluster, _ *Job) { c.Spec.Paused = ptr.To(false) }, due},
		"another hook is skipped": {func(c *clusterv1.Cluster, _ *Job) {
			c.Annotations = map[string]string{SkipAnnotation: "BeforeClusterUpgrade"}
		}, due},
		"an upgrade to a version between": {func(c *clusterv1.Cluster, _ *Job) { c.Spec.Topology.Version = "v1.36.3" }, due},
		"an upgrade to another version":   {func(c *clusterv1.Cluster, _ *Job) { c.Spec.Topology.Version = "v1.36.4" }, verdict{note: &Outcome{Message: elsewhere}}},
		"a hook without a plan":           {func(c *clusterv1.Cluster, j *Job) { c.Spec.Topology.Version, j.Plan = "v1.36.4", nil }, due},
		"skipped": {
			func(c *clusterv1.Cluster, _ *Job) {
				c.Annotations = map[string]string{SkipAnnotation: "Other, BeforeControlPlaneUpgrade"}
			},
			verdict{note: &Outcome{Done: true, Message: "skipped: the annotation foo.cluster.x-k8s.io/skip-hooks names BeforeControlPlaneUpgrade"}},
		},
		"skipped while it is paused": {
			func(c *clusterv1.Cluster, _ *Job) {
				c.Annotations = map[string]string{SkipAnnotation: "BeforeControlPlaneUpgrade"}
				c.Spec.Paused = ptr.To(true)
			},
			verdict{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "uid"}, Spec: clusterv1.ClusterSpec{Topology: clusterv1.Topology{Version: "v1.37.0"}}}
			judged := job
			test.change(cluster, &judged)
			g.Expect(doing.judge(judged, cluster)).To(Equal(test.want))
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
