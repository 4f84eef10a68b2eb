// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workloadjob

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestJudge(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j"}}
	for name, test := range map[string]struct {
		conditions []batchv1.JobCondition
		want       Result
	}{
		"new": {nil, Result{State: Open, Text: "Job ns/j has not finished"}},
		"suspended": {[]batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, Reason: "JobSuspended"}},
			Result{State: Open, Text: "Job ns/j has not finished", Conditions: []string{"Suspended=True JobSuspended"}}},
		"complete": {[]batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Reason: "Done", Message: "all"}},
			Result{State: Complete, Text: "Job ns/j is complete", Conditions: []string{"Complete=True Done: all", "SuccessCriteriaMet=True"}}},
		"failed": {[]batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}},
			Result{State: Failed, Text: "Job ns/j failed (BackoffLimitExceeded)", Conditions: []string{"Failed=True BackoffLimitExceeded"}}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := job.DeepCopy()
			seen.Status.Conditions = test.conditions
			test.want.Job = seen
			NewWithT(t).Expect(resultOf(seen)).To(Equal(test.want))
		})
	}
}

const jobText = `apiVersion: batch/v1
kind: Job
metadata:
  name: mine
  generateName: mine-
  labels: {app: mine}
spec:
  ttlSecondsAfterFinished: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: check, image: example.com/check:v1}]
`

func TestParseJob(t *testing.T) {
	g := NewWithT(t)
	of := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{Key: text}}
	}
	made, err := parse(of(jobText))
	g.Expect(err).NotTo(HaveOccurred())
	one := hooks.Job{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, Hook: "AfterClusterUpgrade", To: "v1.36.3"}
	Identify(made, "conformance", one)
	name := made.Name
	g.Expect(name).To(MatchRegexp(`^foo-conformance-[0-9a-f]{10}$`))
	g.Expect(made.Namespace).To(Equal("default"))
	g.Expect(made.GenerateName).To(BeEmpty())
	g.Expect(made.Labels).To(Equal(map[string]string{"app": "mine", hookLabel: "AfterClusterUpgrade"}))
	g.Expect(made.Spec.TTLSecondsAfterFinished).To(HaveValue(BeEquivalentTo(3600)), "a Job that is gone before its result was read would be created again")

	again := made.DeepCopy()
	Identify(again, "conformance", one)
	g.Expect(again).To(Equal(made))
	Identify(again, "conformance", hooks.Job{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, Hook: "AfterClusterUpgrade", To: "v1.37.0"})
	g.Expect(again.Name).NotTo(Equal(name))
	for _, change := range []func(*hooks.Job){func(j *hooks.Job) { j.Attempt = 2 }, func(j *hooks.Job) { j.Config = "other" }} {
		another := one
		change(&another)
		Identify(again, "conformance", another)
		g.Expect(again.Name).NotTo(Equal(name), "another attempt, or another ExtensionConfig, needs a result of its own")
	}

	for _, wrong := range []string{"", "{", "apiVersion: v1\nkind: Pod", "apiVersion: batch/v1\nkind: Job\nsecret: hunter2"} {
		_, err := parse(of(wrong))
		g.Expect(err).To(MatchError(`data["job.yaml"] of ConfigMap c is not a batch/v1 Job with only known fields`))
	}
	_, err = parse(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	g.Expect(err).To(MatchError(`ConfigMap c has no data["job.yaml"]`))
}

// A Job that is gone while its result is still needed would run again.
func TestASuppliedJobStaysAsLongAsItsResultIsNeeded(t *testing.T) {
	for stays, want := range map[time.Duration]int32{0: 3600, time.Minute: 3600, 3 * time.Hour: 3 * 3600} {
		g := NewWithT(t)
		workload := fake.NewClientBuilder().Build()
		supplied := Supplied{Purpose: "conformance", Stays: stays, Clusters: hooks.Clusters{
			Client:   fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c"}, Data: map[string]string{Key: jobText}}).Build(),
			Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return workload, nil },
		}}
		made := supplied.Run(t.Context(), hooks.Job{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team"}}}, "c")
		g.Expect(made.Job).NotTo(BeNil(), made.Text)
		g.Expect(made.Job.Spec.TTLSecondsAfterFinished).To(HaveValue(Equal(want)), stays.String())
	}
}

func TestResultTellsWhatPodsWaitForAndSay(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	now := time.Now()
	pod := func(name string, state corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{batchv1.ControllerUidLabel: "1"}},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}},
		}
	}
	ended := func(after time.Duration, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(after)), Message: message}}
	}
	other := pod("other", ended(time.Hour, "of another Job"))
	other.Labels[batchv1.ControllerUidLabel] = "2"
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "1"}}
	workload := fake.NewClientBuilder().WithObjects(job, other, pod("a", ended(2*time.Second, "second")), pod("b", ended(time.Second, "first")),
		pod("c", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}})).Build()
	result := Run(ctx, workload, job)
	g.Expect(result.Said).To(Equal("second"))
	g.Expect(result.Text).To(Equal("Job ns/j has not finished: its Pod waits (ImagePullBackOff)"))
	g.Expect(waitsFor([]corev1.Pod{{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
	}}}})).To(Equal("Unschedulable"))
}
