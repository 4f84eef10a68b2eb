//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinetemplate

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var suite *infratest.Suite

func TestMachineTemplate(t *testing.T) {
	infratest.Run(t, "FooMachineTemplate", &suite, func(ctx context.Context, mgr ctrl.Manager, c *fake.Cloud, _ *cloudevents.Events) error {
		return SetupWithManager(ctx, mgr, Options{Clouds: cloudidentity.One(c)})
	})
}

var _ = Describe("FooMachineTemplate", func() {
	It("says what its nodes will have", func(ctx SpecContext) {
		namespace, err := suite.Namespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		template := &infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "workers"}}
		Expect(suite.Client.Create(ctx, template)).To(Succeed())
		get := func(g Gomega) infrav1.FooMachineTemplateStatus {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(template), template)).To(Succeed())
			return template.Status
		}
		Eventually(func(g Gomega) {
			status := get(g)
			g.Expect(status.Capacity.Cpu().String()).To(Equal("2"))
			g.Expect(status.Capacity.Memory().String()).To(Equal("4Gi"))
			g.Expect(status.NodeInfo).To(Equal(infrav1.NodeInfo{Architecture: "amd64", OperatingSystem: "linux"}))
		}).Should(Succeed(), "the size is the default's")

		By("taking it back when the cloud does not have the type")
		before := template.DeepCopy()
		template.Spec.Template.Spec.InstanceType = "huge"
		Expect(suite.Client.Patch(ctx, template, client.MergeFrom(before))).To(Succeed())
		Eventually(get).Should(BeZero(), "the change of the spec is noticed")
	})
})
