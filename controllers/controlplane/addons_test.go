//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

var _ = Describe("A settled control plane", func() {
	wanted := func(f *fixture) func() workload.Addons {
		return func() workload.Addons {
			var addons workload.Addons
			workloads.change(f.key(), func(cluster *fakeCluster) { addons = cluster.addons })
			return addons
		}
	}

	It("updates kube-proxy and CoreDNS, but not before all Machines have joined", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3), func(f *fixture) {
			f.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "registry.example.com"
		})
		f.provision(ctx)
		f.initialize(ctx)
		f.expectMachines(ctx, 2)
		Expect(wanted(f)()).To(BeZero())
		f.join(ctx)
		f.expectMachines(ctx, 3)
		f.join(ctx)
		Eventually(wanted(f)).Should(And(
			HaveField("Cluster", f.key()), HaveField("Version", "v1.36.3"), HaveField("Config.ImageRepository", "registry.example.com"), HaveField("Annotations", Equal(map[string]string{}))))
	})

	It("skips the add-ons that the user excludes", func(ctx SpecContext) {
		excluding := map[string]string{kubeadmcontrolplanev1.SkipKubeProxyAnnotation: "", kubeadmcontrolplanev1.SkipCoreDNSAnnotation: ""}
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Annotations = map[string]string{"example.com/other": ""}
			for name := range excluding {
				f.controlPlane.Annotations[name] = "yes"
			}
		})
		f.provision(ctx)
		f.initialize(ctx)
		Eventually(wanted(f)).Should(HaveField("Annotations", excluding))
	})

	It("stays available when add-ons cannot be updated, and retries", func(ctx SpecContext) {
		f := newFixture(ctx)
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.addonsErr = errors.New("no CoreDNS migration") })
		f.provision(ctx)
		f.initialize(ctx)
		Eventually(wanted(f)).ShouldNot(BeZero())
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		Eventually(f.condition(ctx, controlplanev1.AddonsUpToDateCondition)).Should(And(
			HavePrefix("False "+controlplanev1.AddonsNotUpToDateReason), ContainSubstring("No CoreDNS migration"),
			ContainSubstring(kubeadmcontrolplanev1.SkipCoreDNSAnnotation)))
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.addonsErr, cluster.addons = nil, workload.Addons{} })
		Eventually(wanted(f)).ShouldNot(BeZero())
		Eventually(f.condition(ctx, controlplanev1.AddonsUpToDateCondition)).Should(HavePrefix("True"))
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.condition(ctx, controlplanev1.AddonsUpToDateCondition)()).To(HavePrefix("True"), "later status writes keep the condition")
	})

	It("shows when each Machine's certificates expire", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		_, config, _ := f.machineObjects(ctx)
		Eventually(func() map[string]string {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
			return config.Annotations
		}).Should(HaveKeyWithValue(clusterv1.MachineCertificatesExpiryDateAnnotation, fakeExpiry.Format(time.RFC3339)))

		other := fakeExpiry.AddDate(1, 0, 0)
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.expiries = map[string]time.Time{config.Name: other} })
		update(ctx, config, func() { delete(config.Annotations, clusterv1.MachineCertificatesExpiryDateAnnotation) })
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"touched": "yes"} })
		Eventually(func() map[string]string {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
			return config.Annotations
		}).Should(HaveKeyWithValue(clusterv1.MachineCertificatesExpiryDateAnnotation, other.Format(time.RFC3339)), "it is read again")
	})

	DescribeTable("knows the port of each API server", func(spec bootstrapv1.KubeadmConfigSpec, port int) {
		Expect(apiServerPort(spec)).To(BeEquivalentTo(port))
	},
		Entry("by default", bootstrapv1.KubeadmConfigSpec{}, 0),
		Entry("from initConfiguration", bootstrapv1.KubeadmConfigSpec{
			InitConfiguration: bootstrapv1.InitConfiguration{LocalAPIEndpoint: bootstrapv1.APIEndpoint{BindPort: 7443}},
		}, 7443),
		Entry("from joinConfiguration", bootstrapv1.KubeadmConfigSpec{JoinConfiguration: bootstrapv1.JoinConfiguration{
			ControlPlane: &bootstrapv1.JoinControlPlane{LocalAPIEndpoint: bootstrapv1.APIEndpoint{BindPort: 8443}},
		}}, 8443),
	)
})
