//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	utilyaml "sigs.k8s.io/cluster-api/util/yaml"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
)

// machinesNamespace is the namespace in config/kubernetes-cloud.
const machinesNamespace = "foo-machines"

// newOuterTenant sets the API server up as an outer cluster, as its administrator would, with a tenant
// in a namespace, and creates an identity for it.
func newOuterTenant(ctx context.Context, namespace, endpoint string) *tenant {
	GinkgoHelper()
	content, err := kustomize.Build("../../../config/kubernetes-cloud")
	Expect(err).NotTo(HaveOccurred())
	content = []byte(strings.NewReplacer(
		"kubernetesVersion: v1.36.3", "kubernetesVersion: "+infratest.KubernetesVersion, machinesNamespace, namespace,
	).Replace(string(content)))
	objects, err := utilyaml.ToUnstructured(content)
	Expect(err).NotTo(HaveOccurred())
	for i := range objects {
		Expect(c.Create(ctx, &objects[i])).To(Succeed())
	}
	// No kubelet runs here, so what holds the first connections to a cluster would never start. Its
	// container requests less than the namespace allows, so clusters come up without it.
	Expect(c.Create(ctx, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "machines-only"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		}}},
	})).To(Succeed())
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "foo"}}
	Expect(c.SubResource("token").Create(ctx, account, request)).To(Succeed())
	return newTenant(ctx, "outer", func(t *tenant) {
		t.identity.Spec.Cloud = infrav1.CloudKubernetes
		t.identity.Spec.Endpoint, t.identity.Spec.CABundle, t.identity.Spec.Tenant = endpoint, env.Config.CAData, namespace
		t.secret.StringData[infrav1.FooClusterIdentityTokenKey] = request.Status.Token
	})
}

var _ = Describe("One manager with both kinds of cloud", Ordered, func() {
	var outer, blue *tenant
	var ofBlue *infrav1.FooCluster
	var fooMachine *infrav1.FooMachine

	pods := func(ctx context.Context) []corev1.Pod {
		GinkgoHelper()
		list := &corev1.PodList{}
		Expect(c.List(ctx, list, client.InNamespace(machinesNamespace))).To(Succeed())
		return list.Items
	}

	It("uses for each cluster the cloud that its identity names", func(ctx SpecContext) {
		outer, blue = newOuterTenant(ctx, machinesNamespace, env.Config.Host), newTenant(ctx, "blue")
		Eventually(outer.ready(ctx)).Should(HavePrefix("True"))
		_, ofBlue = blue.cluster(ctx, blue.namespace)
		owner, ofOuter := outer.cluster(ctx, outer.namespace)
		Eventually(condition(ctx, ofBlue, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
		Eventually(condition(ctx, ofOuter, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
		services := &corev1.ServiceList{}
		Expect(c.List(ctx, services, client.InNamespace(machinesNamespace))).To(Succeed())
		Expect(services.Items).To(ConsistOf(HaveField("Spec.ClusterIP", ofOuter.Spec.ControlPlaneEndpoint.Host)))
		Expect(blue.balancers(ctx)).To(ContainElement(HaveField("Address", ofBlue.Spec.ControlPlaneEndpoint.Host)))

		By("ordering a machine")
		done := make(chan struct{})
		go func() { // stands in for a kubelet
			defer GinkgoRecover()
			defer close(done)
			Eventually(func(g Gomega) {
				all := &corev1.PodList{}
				g.Expect(c.List(ctx, all, client.InNamespace(machinesNamespace))).To(Succeed())
				g.Expect(all.Items).To(HaveLen(1))
				all.Items[0].Status.Phase, all.Items[0].Status.PodIP = corev1.PodRunning, "10.9.0.1"
				all.Items[0].Status.PodIPs = []corev1.PodIP{{IP: "10.9.0.1"}}
				all.Items[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "node", Started: ptr.To(true)}}
				g.Expect(c.Status().Update(ctx, &all.Items[0])).To(Succeed())
			}).Should(Succeed())
		}()
		fooMachine = outer.machine(ctx, owner)
		Eventually(done).Should(BeClosed())
		Expect(cloud.InstanceID(fooMachine.Spec.ProviderID)).To(HavePrefix(pods(ctx)[0].Name))
		Expect(blue.instances(ctx)).To(BeEmpty())
	})

	It("names the permissions that the account lacks", func(ctx SpecContext) {
		role := &rbacv1.Role{}
		Expect(c.Get(ctx, client.ObjectKey{Namespace: machinesNamespace, Name: "foo"}, role)).To(Succeed())
		before := role.DeepCopy()
		role.Rules = role.Rules[1:]
		Expect(c.Update(ctx, role)).To(Succeed())
		// A change of the Secret makes the controller look at once.
		Eventually(func(g Gomega) {
			outer.setToken(ctx, string(outer.secret.Data[infrav1.FooClusterIdentityTokenKey])+" ")
			g.Expect(outer.ready(ctx)(g)).To(And(
				HavePrefix("False "+infrav1.CloudUnauthorizedReason), ContainSubstring("the token is not allowed to: get pods, list pods, watch pods, create pods")))
		}).Should(Succeed())
		Consistently(func() []corev1.Pod { return pods(ctx) }, "1s").Should(HaveLen(1), "what cannot be read is not gone")

		role.Rules = before.Rules
		Expect(c.Update(ctx, role)).To(Succeed())
		Eventually(func(g Gomega) {
			outer.setToken(ctx, string(outer.secret.Data[infrav1.FooClusterIdentityTokenKey])+" ")
			g.Expect(outer.ready(ctx)(g)).To(HavePrefix("True"))
		}).Should(Succeed())
	})

	It("deletes the machine with its Pod", func(ctx SpecContext) {
		Expect(c.Delete(ctx, fooMachine)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(fooMachine), fooMachine))
		}).Should(BeTrue())
		Expect(pods(ctx)).To(BeEmpty())

		By("deleting the cluster on the local cloud, whose tenant other stories use")
		Expect(c.Delete(ctx, ofBlue)).To(Succeed())
		Eventually(func() []cloud.LoadBalancer { return blue.balancers(ctx) }).ShouldNot(ContainElement(HaveField("Address", ofBlue.Spec.ControlPlaneEndpoint.Host)))
	})
})
