//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// classVariables sets variables of the class; extensions/topology tests all of them.
const classVariables = `[
	{"name": "controlPlaneInstanceType", "value": "medium"},
	{"name": "workerInstanceType", "value": "medium"},
	{"name": "zones", "value": [{"name": "zone-a"}, {"name": "zone-c", "controlPlane": false}]},
	{"name": "loadBalancerPort", "value": 443},
	{"name": "additionalTags", "value": {"team": "red"}},
	{"name": "controlPlaneRootDiskGiB", "value": 40},
	{"name": "workerRootDiskGiB", "value": 80},
	{"name": "certificateSANs", "value": ["api.example.com"]},
	{"name": "apiServerExtraArgs", "value": [{"name": "v", "value": "1"}]},
	{"name": "controllerManagerExtraArgs", "value": [{"name": "v", "value": "2"}]},
	{"name": "schedulerExtraArgs", "value": [{"name": "v", "value": "3"}]},
	{"name": "kubeletExtraArgs", "value": [{"name": "v", "value": "4"}]},
	{"name": "fast", "value": true},
	{"name": "externalEtcdEndpoints", "value": ["https://192.0.2.1:2379"]},
	{"name": "poolStrategy", "value": {"maxSurge": "50%", "maxUnavailable": 1, "deletePolicy": "Newest"}}
]`

// These stories create no machines, because the Secrets of the etcd do not exist.
var _ = Describe("The variables of a ClusterClass", Label("clusterclass", needsNextRelease), func() {
	// withVariables changes the variables of the Cluster.
	withVariables := func(objects []*unstructured.Unstructured, text string) []*unstructured.Unstructured {
		GinkgoHelper()
		var variables []any
		Expect(json.Unmarshal([]byte(text), &variables)).To(Succeed())
		for _, object := range objects {
			if object.GetKind() == "Cluster" {
				Expect(unstructured.SetNestedSlice(object.Object, variables, "spec", "topology", "variables")).To(Succeed())
			}
		}
		return objects
	}
	want := flavor{name: "topology", shape: shape{controlPlanes: 1, workers: 1, version: currentVersion}}

	It("reach the objects that they are for", func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, "variables")
		c := &cluster{management: m, key: client.ObjectKey{Namespace: "variables", Name: "many"}}
		m.apply(ctx, withVariables(m.generate(ctx, c.key, want), classVariables))
		arguments := func(value string) []bootstrapv1.Arg { return []bootstrapv1.Arg{{Name: "v", Value: ptr.To(value)}} }
		Eventually(func(g Gomega) {
			controlPlane := c.controlPlane(g, ctx)
			config := controlPlane.Spec.KubeadmConfigSpec
			components := config.ClusterConfiguration
			g.Expect(components.APIServer.CertSANs).To(Equal([]string{"api.example.com"}))
			g.Expect(components.APIServer.ExtraArgs).To(Equal(arguments("1")))
			g.Expect(components.ControllerManager.ExtraArgs).To(Equal(arguments("2")))
			g.Expect(components.Scheduler.ExtraArgs).To(Equal(arguments("3")))
			g.Expect(config.InitConfiguration.NodeRegistration.KubeletExtraArgs).To(Equal(arguments("4")))
			g.Expect(config.JoinConfiguration.NodeRegistration.KubeletExtraArgs).To(Equal(arguments("4")))
			g.Expect(components.Etcd.Local.IsDefined()).To(BeFalse())
			g.Expect(components.Etcd.External.Endpoints).To(Equal([]string{"https://192.0.2.1:2379"}))
			template := &infrav1.FooMachineTemplate{}
			name := controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Name
			g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: name}, template)).To(Succeed())
			g.Expect(template.Spec.Template.Spec.InstanceType).To(Equal("medium"))
			g.Expect(template.Spec.Template.Spec.RootDisk.SizeGiB).To(BeEquivalentTo(40))
			fooCluster := &infrav1.FooCluster{}
			g.Expect(c.Get(ctx, c.key, fooCluster)).To(Succeed())
			g.Expect(fooCluster.Spec.ControlPlaneEndpoint.Port).To(BeEquivalentTo(443))
			g.Expect(fooCluster.Status.FailureDomains).To(Equal([]clusterv1.FailureDomain{
				{Name: "zone-a", ControlPlane: ptr.To(true)}, {Name: "zone-c", ControlPlane: ptr.To(false)},
			}))
			balancers := foocloud[[]named](ctx, m, "load-balancers")
			g.Expect(balancers).To(ContainElement(And(HaveField("Name", "variables.many"), HaveField("Tags", HaveKeyWithValue("team", "red")))))
			expectCondition(g, controlPlane.Status.Conditions, controlplanev1.CertificatesAvailableCondition, "False")
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		Eventually(func(g Gomega) {
			pool := c.classPool(g, ctx)
			g.Expect(pool.Spec.Template.InstanceType).To(Equal("medium"))
			g.Expect(pool.Spec.Template.RootDisk.SizeGiB).To(BeEquivalentTo(80))
			g.Expect(pool.Spec.Strategy.MaxSurge).To(HaveValue(Equal(intstr.FromString("50%"))))
			g.Expect(pool.Spec.Strategy.MaxUnavailable).To(HaveValue(Equal(intstr.FromInt32(1))))
			g.Expect(pool.Spec.Strategy.DeletePolicy).To(Equal(infrav1.NewestDeletePolicy))
			configs := &bootstrapv1.KubeadmConfigList{}
			g.Expect(c.List(ctx, configs, client.InNamespace(c.key.Namespace))).To(Succeed())
			g.Expect(configs.Items).To(HaveLen(1), "only the pool has one so far")
			g.Expect(configs.Items[0].Spec.JoinConfiguration.NodeRegistration.KubeletExtraArgs).To(Equal(arguments("4")))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		Expect(c.machines(Default, ctx)).To(BeEmpty())
	}, NodeTimeout(2*clusterUp))

	It("are rejected if their schema does not allow them", func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, "bad-variables")
		key := client.ObjectKey{Namespace: "bad-variables", Name: "many"}
		objects := m.generate(ctx, key, want)
		var class, clusters []*unstructured.Unstructured
		for _, object := range objects {
			if object.GetKind() == "Cluster" {
				clusters = append(clusters, object)
			} else {
				class = append(class, object)
			}
		}
		m.apply(ctx, class)
		for text, complaint := range map[string]string{
			`[{"name": "externalEtcdEndpoints", "value": ["http://192.0.2.1"]}]`: "should match '^https://'",
			`[{"name": "poolStrategy", "value": {"deletePolicy": "Any"}}]`:       `supported values: "Random", "Newest", "Oldest"`,
			`[{"name": "workerInstanceType", "value": ""}]`:                      "should be at least 1 chars long",
			`[{"name": "fast", "value": "true"}]`:                                "must be of type boolean",
			`[{"name": "wokerInstanceType", "value": "small"}]`:                  "variable is not defined",
		} {
			Eventually(func() string {
				err := m.Create(ctx, withVariables(clusters, text)[0].DeepCopy(), client.DryRunAll)
				if err == nil {
					return "it was accepted"
				}
				return strings.ToLower(err.Error())
			}).WithContext(ctx).Should(ContainSubstring(strings.ToLower(complaint)), text)
		}
	}, NodeTimeout(clusterUp))
})
