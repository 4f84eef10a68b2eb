//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// moveBroken moves a cluster of which a Machine is broken. A move does not preserve status, and
// creates all Machines within a second, so nothing shows which one was the first. The target's
// managers must still find out that the control plane is initialized, no matter which Machine is
// broken.
func (ctl *clusterctl) moveBroken(ctx context.Context, source, target *management) {
	GinkgoHelper()
	key := client.ObjectKey{Namespace: "fleet-of-3", Name: "limping"}
	others := source.instances(ctx)
	source.kubectl(ctx, "create", "namespace", key.Namespace)
	c := source.newCluster(ctx, key, shape{controlPlanes: 3, version: currentVersion})
	c.available(ctx)
	nodes := c.settled(ctx, 3, currentVersion)
	c.withoutDNSPods(ctx)
	c.newLedger(ctx).during(ctx, func() {
		// The first by name is also the first in any order without another criterion.
		machines := c.controlPlaneMachines(Default, ctx)
		first := slices.MinFunc(machines, func(a, b clusterv1.Machine) int { return strings.Compare(a.Name, b.Name) })
		broken := nodes[slices.Index(providerIDsOf(nodes), first.Spec.ProviderID)]
		id := c.instanceOf(ctx, broken)

		c.kubectl(ctx, "--namespace="+key.Namespace, "annotate", "machine", "--all", clusterv1.MachineSkipRemediationAnnotation+"=")
		c.healthChecked(ctx, impatient)
		Expect(syscall.Kill(instanceInit(id), syscall.SIGKILL)).To(Succeed())
		ctl.run(ctx, source, "move", "--namespace="+key.Namespace, "--to-kubeconfig="+target.kubeconfig)
		c.management = target
		c.kubectl(ctx, "--namespace="+key.Namespace, "annotate", "machine", "--all", clusterv1.MachineSkipRemediationAnnotation+"-")

		c.initializedAgain(ctx)
		c.expectReplaced(ctx, 3, currentVersion, []string{broken.Spec.ProviderID})
	})
	Expect(append(source.refused(ctx), target.refused(ctx)...)).To(BeEmpty(), "the roles of a release lack a permission")
	c.kubectl(ctx, "--namespace="+key.Namespace, "delete", "cluster", key.Name)
	Expect(source.instances(ctx)).To(Equal(others), "instances of the cluster are left")
}
