//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
)

var _ = Describe("Before an upgrade", func() {
	settings := hooks.Settings{UpgradeChecksOnFailure: hooks.Hold}

	It("names what stands in its way, and lets go once that is mended", func(ctx SpecContext) {
		old := readyNode("old", "v1.32.0", nil)
		shared.create(ctx, readyNode("cp", "v1.35.4", controlPlane()), old)
		task := shared.tasks.Upgrade
		job := hooks.Job{Hook: "BeforeClusterUpgrade", From: "v1.35.4", To: "v1.36.3", Plan: []string{"v1.36.2", "v1.36.3"}, Settings: settings}
		outcome := run(ctx, task, job)
		Expect(outcome.Done).To(BeFalse())
		Expect(outcome.Message).To(Equal("the upgrade is held, because its checks found: no image of version v1.36.2; available: v1.36.3, v1.37.0; " +
			"the kubelet of Node old has version v1.32.0, which is more than 3 minor versions older than the upgrade's v1.36.2"))
		Expect(outcome.Report).To(ContainSubstring("no image of version v1.36.2; available: v1.36.3, v1.37.0\n"))

		job.Settings = hooks.Settings{UpgradeChecksOnFailure: hooks.Continue}
		outcome = run(ctx, task, job)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Message).To(HavePrefix("the upgrade continues, although its checks found: no image"))

		job.Settings, job.Plan = settings, []string{"v1.36.3"}
		Expect(shared.client.Delete(ctx, old)).To(Succeed())
		Expect(run(ctx, task, job)).To(Equal(hooks.Outcome{Done: true, Message: "the upgrade checks found no problems"}))
	})

	It("finds the APIs that were requested and that the upgrade removes", func(ctx SpecContext) {
		shared.create(ctx, readyNode("cp", "v1.36.3", controlPlane()))
		Expect(shared.client.List(ctx, &networkingv1beta1.IPAddressList{})).To(Succeed())
		Expect(shared.client.List(ctx, &corev1.EndpointsList{})).To(Succeed(), "deprecated too, but never removed")
		task := shared.tasks.Upgrade
		job := hooks.Job{Cluster: cluster(), To: "v1.37.0", Settings: settings}
		Eventually(func() (hooks.Outcome, error) { return task(ctx, job) }).
			Should(HaveField("Done", false), "the API server counts a request after it has answered")
		Expect(run(ctx, task, hooks.Job{To: "v1.36.3", Settings: settings}).Done).To(BeTrue(), "this release still has it")
		Expect(run(ctx, task, job).Message).
			To(Equal("the upgrade is held, because its checks found: ipaddresses.v1beta1.networking.k8s.io were requested since the API server started, but v1.37 removes them; " +
				"once nothing uses them, name them in the annotation foo.cluster.x-k8s.io/acknowledged-apis of the Cluster"))

		job.Cluster = cluster()
		job.Cluster.Annotations = map[string]string{"foo.cluster.x-k8s.io/acknowledged-apis": "ipaddresses.v1beta1.networking.k8s.io"}
		Eventually(func() (hooks.Outcome, error) { return task(ctx, job) }).Should(HaveField("Done", true), "the API server itself remembers it until it restarts")
	})

	It("finds a control plane that is not well", func(ctx SpecContext) {
		node := readyNode("cp", "v1.36.3", controlPlane())
		node.Status.Conditions[0].Status = corev1.ConditionUnknown
		tier := map[string]string{"tier": "control-plane"}
		stuck := pod("kube-system", "kube-scheduler-cp", "cp", tier)
		stuck.Status.Conditions[0].Status = corev1.ConditionFalse
		shared.create(ctx, node, stuck, pod("kube-system", "kube-apiserver-cp", "cp", tier), pod("kube-system", "kube-controller-manager-cp", "cp", tier))
		Expect(run(ctx, shared.tasks.Upgrade, hooks.Job{To: "v1.36.3", Settings: settings}).Report).
			To(Equal("Node cp is not Ready\nkube-scheduler on Node cp is not ready"))
	})
})

var _ = Describe("Between the steps of an upgrade", func() {
	settings := hooks.Settings{SmokeChecksTimeout: 10 * time.Minute, SmokeChecksOnTimeout: hooks.Hold}

	It("waits for the control plane's nodes and DNS", func(ctx SpecContext) {
		behind := readyNode("cp", "v1.35.4", controlPlane())
		shared.create(ctx, behind, readyNode("w", "v1.35.4", nil), deployment())
		task := shared.tasks.Smoke
		job := hooks.Job{Hook: "AfterControlPlaneUpgrade", To: "v1.36.3", Settings: settings}
		Expect(run(ctx, task, job).Message).To(Equal("waiting for the cluster to become healthy, because the smoke checks found: " +
			"Deployment kube-system/coredns has no available replica; control plane Node cp has version v1.35.4, but should have v1.36.3"))
		job.Since = time.Now().Add(-time.Hour)
		late := run(ctx, task, job)
		Expect(late.Done).To(BeFalse())
		Expect(late.Message).To(HavePrefix("the upgrade is held, because after 10m0s the smoke checks still found: Deployment"))

		serve(ctx)
		Expect(shared.client.Get(ctx, client.ObjectKeyFromObject(behind), behind)).To(Succeed())
		behind.Status.NodeInfo.KubeletVersion = "v1.36.3"
		Expect(shared.client.Status().Update(ctx, behind)).To(Succeed())
		Expect(run(ctx, task, job)).To(Equal(hooks.Outcome{Done: true, Message: "the smoke checks found no problems"}))
	})

	It("names budgets that would block a drain", func(ctx SpecContext) {
		namespace := shared.namespace(ctx)
		app := map[string]string{"app": "a"}
		shared.create(ctx, readyNode("w", "v1.36.3", nil), pod(namespace, "a", "w", app), pod(namespace, "b", "w", nil),
			&policyv1.PodDisruptionBudget{
				ObjectMeta: inNamespace(namespace, "tight"),
				Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: app}},
				Status:     policyv1.PodDisruptionBudgetStatus{ExpectedPods: 1, CurrentHealthy: 1, DesiredHealthy: 1},
			})
		task := shared.tasks.Smoke
		Expect(run(ctx, task, hooks.Job{Hook: "BeforeWorkersUpgrade", To: "v1.36.3", Settings: settings}).Report).
			To(Equal("PodDisruptionBudget " + namespace + "/tight allows no disruption, which blocks the drain of 1 of its pods on workers"))
		Expect(run(ctx, task, hooks.Job{Hook: "AfterWorkersUpgrade", To: "v1.36.3", Settings: settings}).Done).To(BeTrue(), "nothing is drained then")
	})

	It("tells an etcd that is gone from an API server that is", func(ctx SpecContext) {
		broken := start(ctx, 10*time.Second)
		task := broken.tasks.Smoke
		job := hooks.Job{Hook: "AfterWorkersUpgrade", To: "v1.36.3", Settings: settings}
		Expect(run(ctx, task, job).Done).To(BeTrue())
		_ = broken.environment.ControlPlane.Etcd.Stop() // fails if it had to be killed, which is fine too
		job.Cluster, job.Since = cluster(), time.Now()
		Eventually(func() (hooks.Outcome, error) { return task(ctx, job) }).Should(SatisfyAll(
			HaveField("Report", ContainSubstring("/readyz of the API server fails: etcd")), HaveField("Done", false)))

		// Without its etcd it would take a minute to stop by itself, so it is killed.
		_ = broken.environment.ControlPlane.GetAPIServer().Stop()
		Eventually(func() (string, error) {
			outcome, err := task(ctx, job)
			return outcome.Message, err
		}).Should(Equal("waiting for the cluster to become healthy, because the smoke checks found: the workload cluster cannot be reached: connection refused"), "once the process has ended")
	})
})

var _ = Describe("After an upgrade", func() {
	const text = "apiVersion: batch/v1\nkind: Job\nspec:\n  ttlSecondsAfterFinished: 0\n  template:\n    spec:\n" +
		"      restartPolicy: Never\n      containers: [{name: check, image: example.com/check:v1}]\n"
	job := hooks.Job{Hook: "AfterClusterUpgrade", To: "v1.36.3", Settings: hooks.Settings{ConformanceChecksTimeout: 15 * time.Minute, ConformanceJob: "conformance"}}

	It("runs the Job once and keeps its result", func(ctx SpecContext) {
		shared.create(ctx, &corev1.ConfigMap{ObjectMeta: inNamespace("default", "conformance"), Data: map[string]string{workloadjob.Key: text}})
		task := shared.tasks.Conformance
		Expect(run(ctx, task, job).Message).To(MatchRegexp(`^waiting for the checks after the upgrade, which found: Job default/foo-conformance-[0-9a-f]{10} has not finished$`))
		made := jobs(ctx)
		Expect(made).To(HaveLen(1))
		DeferCleanup(func(ctx context.Context) {
			Expect(shared.client.Delete(ctx, &made[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		})

		now := metav1.Now()
		made[0].Status = batchv1.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}, Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Reason: "CompletionsReached"},
		}}
		Expect(shared.client.Status().Update(ctx, &made[0])).To(Succeed())
		outcome := run(ctx, task, job)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Message).To(Equal("the checks after the upgrade found no problems"))
		Expect(outcome.Report).To(Equal("checks: found no problems\njob: Job default/" + made[0].Name + " is complete\nComplete=True CompletionsReached\nSuccessCriteriaMet=True"))
		Expect(jobs(ctx)).To(ConsistOf(HaveField("Spec.TTLSecondsAfterFinished", HaveValue(BeEquivalentTo(3600)))), "not created again, and deleted later")
	})

	It("leaves no Job running when the time is over", func(ctx SpecContext) {
		shared.create(ctx, &corev1.ConfigMap{ObjectMeta: inNamespace("default", "conformance"), Data: map[string]string{workloadjob.Key: text}})
		task, late := shared.tasks.Conformance, job
		late.To, late.Since = "v1.37.0", time.Now()
		Expect(run(ctx, task, late).Done).To(BeFalse())
		Expect(jobs(ctx)).To(HaveLen(1))
		late.Since = time.Now().Add(-15 * time.Minute)
		outcome := run(ctx, task, late)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Message).To(HaveSuffix("has not finished"))
		Expect(outcome.Report).NotTo(ContainSubstring("left as it is"))
		Expect(jobs(ctx)).To(BeEmpty())
	})

	It("ends in time without the ConfigMap that it was to run", func(ctx SpecContext) {
		task := shared.tasks.Conformance
		const missing = `ConfigMap conformance, which the setting conformanceJob names, cannot be read: the API server answered NotFound for configmaps "conformance"`
		Expect(run(ctx, task, job)).To(Equal(hooks.Outcome{
			Message: "waiting for the checks after the upgrade, which found: " + missing, Report: "checks: found no problems\njob: " + missing, RetryAfter: 10 * time.Second,
		}))
		late := job
		late.Since = time.Now().Add(-15 * time.Minute)
		outcome := run(ctx, task, late)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Message).To(Equal("the checks after the upgrade ended after 15m0s, and found: " + missing))
	})
})

func jobs(ctx context.Context) []batchv1.Job {
	GinkgoHelper()
	list := &batchv1.JobList{}
	Expect(shared.client.List(ctx, list)).To(Succeed())
	return list.Items
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"k8s-app": "kube-dns"}
	return &appsv1.Deployment{
		ObjectMeta: inNamespace("kube-system", "coredns"),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "coredns", Image: "coredns"}}},
			},
		},
	}
}

// serve does what the controllers of a cluster do once the DNS pods are ready.
func serve(ctx context.Context) {
	GinkgoHelper()
	dns := &appsv1.Deployment{}
	Expect(shared.client.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "coredns"}, dns)).To(Succeed())
	dns.Status = appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	Expect(shared.client.Status().Update(ctx, dns)).To(Succeed())
	shared.create(ctx,
		&corev1.Service{ObjectMeta: inNamespace("kube-system", "kube-dns"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 53}}}},
		&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-dns-1", Labels: map[string]string{discoveryv1.LabelServiceName: "kube-dns"}},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
		})
}
