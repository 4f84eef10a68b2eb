//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// cutOff makes the workload cluster's API unreachable, like a network failure: the load balancer
// accepts connections but does not answer. The returned function ends that.
func (c *cluster) cutOff() func() {
	GinkgoHelper()
	var stopped []int
	for _, pid := range pids() {
		if strings.Contains(procFile(pid, "cmdline"), filepath.Join(c.state, "cloud", "load-balancers")) {
			stopped = append(stopped, pid)
			Expect(syscall.Kill(pid, syscall.SIGSTOP)).To(Succeed())
		}
	}
	Expect(stopped).To(HaveLen(1), "load balancers of the only cluster")
	restore := func() { Expect(syscall.Kill(stopped[0], syscall.SIGCONT)).To(Succeed()) }
	DeferCleanup(restore)
	return restore
}

// loseStatus empties the status of objects, like a backup tool that does not restore it.
func (c *cluster) loseStatus(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(c.Status().Patch(ctx, object, client.RawPatch("application/json-patch+json", []byte(`[{"op":"remove","path":"/status"}]`)))).To(Succeed())
	}
}

// loseAllStatus empties the status of the control plane, of its Machines and of the Cluster, and
// restarts the controllers so that none remembers it.
func (c *cluster) loseAllStatus(ctx context.Context) {
	GinkgoHelper()
	c.expectRestart(ctx, "core", c.kill("core"))
	c.expectRestart(ctx, "manager", c.kill("manager"))
	c.loseStatus(ctx, c.controlPlane(Default, ctx))
	for _, machine := range c.controlPlaneMachines(Default, ctx) {
		c.loseStatus(ctx, &machine)
	}
	c.loseStatus(ctx, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: c.key.Namespace, Name: c.key.Name}})
}

// askForRemediation marks all Machines of the control plane as unhealthy for Cluster API, and waits
// until a MachineHealthCheck has marked them too.
func (c *cluster) askForRemediation(ctx context.Context) {
	GinkgoHelper()
	c.annotateControlPlane(ctx, clusterv1.RemediateMachineAnnotation+"=")
	c.waitForHealth(ctx, clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, "the MachineHealthCheck does not mark all Machines")
}

// withdrawRemediation reverts askForRemediation, and waits until the MachineHealthCheck finds all
// Machines healthy again.
func (c *cluster) withdrawRemediation(ctx context.Context) {
	GinkgoHelper()
	c.annotateControlPlane(ctx, clusterv1.RemediateMachineAnnotation+"-")
	c.waitForHealth(ctx, clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue, "the MachineHealthCheck does not unmark the Machines")
}

// waitForHealth waits until all Machines of the control plane have a condition.
func (c *cluster) waitForHealth(ctx context.Context, condition string, status metav1.ConditionStatus, otherwise string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, machine := range c.controlPlaneMachines(g, ctx) {
			expectCondition(g, machine.Status.Conditions, condition, status)
		}
	}).WithContext(ctx).WithTimeout(2*soon).Should(Succeed(), otherwise)
}

// annotateControlPlane changes an annotation of all Machines of the control plane at once. This
// must be fast while the API of the workload cluster is unreachable: after a minute, Cluster API
// gives up the connection and stops evaluating MachineHealthChecks.
func (c *cluster) annotateControlPlane(ctx context.Context, change string) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "annotate", "machine", change,
		"--selector="+clusterv1.ClusterNameLabel+"="+c.key.Name+","+clusterv1.MachineControlPlaneLabel)
}

// keepsMachines expects, for a while, that no Machine of the control plane is deleted.
func (c *cluster) keepsMachines(ctx context.Context, machines []clusterv1.Machine, while time.Duration) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		now := c.controlPlaneMachines(g, ctx)
		g.Expect(uidsOf(now)).To(Equal(uidsOf(machines)))
		for _, machine := range now {
			g.Expect(machine.DeletionTimestamp).To(BeNil(), "Machine %s is being deleted: %s", machine.Name, c.controlPlaneSays(g, ctx, controlplanev1.RemediatingCondition))
		}
	}).WithContext(ctx).WithTimeout(while).WithPolling(interval).Should(Succeed())
}

// initializedAgain waits until the control plane reports that it is initialized.
func (c *cluster) initializedAgain(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(ptr.Deref(c.controlPlane(g, ctx).Status.Initialization.ControlPlaneInitialized, false)).To(BeTrue())
		var now clusterv1.Cluster
		g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterControlPlaneInitializedCondition, metav1.ConditionTrue)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}
