//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// addNode adds a Node to the outer cluster until the test ends. It returns a function that removes it
// earlier.
func addNode(t *testing.T, node *corev1.Node) func() {
	t.Helper()
	nodes := outer.client.CoreV1().Nodes()
	_, err := nodes.Create(t.Context(), node, metav1.CreateOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	remove := func() { _ = nodes.Delete(context.WithoutCancel(t.Context()), node.Name, metav1.DeleteOptions{}) }
	t.Cleanup(remove)
	return remove
}

// Only the zones of Nodes that can run machines are on offer.
func TestZonesOfDedicatedNodes(t *testing.T) {
	g := NewWithT(t)
	for zone, taint := range map[string]string{"zone-free": "", "zone-machines": "machines", "zone-databases": "databases"} {
		node := outerNode(zone)
		node.Labels["test.example/dedicated"] = "true"
		if taint != "" {
			node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: taint, Effect: corev1.TaintEffectNoSchedule}}
		}
		addNode(t, node)
	}
	c, err := NewForConfig(outer.Config, tenantOf(t, offer+`
pods: {nodeSelector: {test.example/dedicated: "true"}, tolerations: [{key: dedicated, value: machines}]}
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Zones(t.Context())).To(HaveExactElements(HaveField("Name", "zone-free"), HaveField("Name", "zone-machines")))
}

// Only the zones may depend on the Nodes of the outer cluster.
func TestInstanceTypesNeedNoNodes(t *testing.T) {
	g := NewWithT(t)
	config := rest.CopyConfig(outer.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/nodes") {
				return nil, errors.New("nodes are refused")
			}
			return next.RoundTrip(request)
		})
	})
	c, err := NewForConfig(config, tenantOf(t, offer))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Zones(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("nodes are refused")))
	g.Expect(c.InstanceTypes(t.Context())).To(Equal([]cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 4 << 30}}))
	g.Expect(c.Images(t.Context())).To(HaveLen(3))
}

// What was ordered before a zone was lost goes to the other zones from then on.
func TestZoneThatIsLost(t *testing.T) {
	g := NewWithT(t)
	removeZone := addNode(t, outerNode("zone-lost"))
	c := managed(t, tenantOf(t, offer))
	spec := poolOrder(3)
	spec.Zones = []string{"zone-a", "zone-b", "zone-lost"}
	made, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	pool := func() (cloud.Pool, error) { return c.GetPool(t.Context(), spec.Name) }
	g.Eventually(pool, soon).Should(HaveField("Instances", BeEquivalentTo(3)))
	removeZone()

	made, err = c.ScalePool(t.Context(), spec.Name, 5, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(pool, soon).Should(And(HaveField("Instances", BeEquivalentTo(5)), HaveField("Problem", BeNil())))
	inZone := func(zone string) OmegaMatcher { return HaveField("Zone", zone) }
	g.Expect(c.ListInstances(t.Context(), cloud.InstanceFilter{Pool: spec.Name})).To(
		ConsistOf(inZone("zone-a"), inZone("zone-a"), inZone("zone-b"), inZone("zone-b"), inZone("zone-lost")))

	spec.Template.UserData = []byte("#cloud-config\n# with a new token\n")
	made, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).NotTo(HaveOccurred(), "the zones are as they were")
	spec.Zones = append(spec.Zones, "zone-typo")
	_, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).To(MatchError(`zones "zone-typo": unknown zone, allowed: zone-a, zone-b`))

	one := orderOf("one")
	one.Zones = []string{"zone-lost", "zone-b"}
	g.Expect(c.EnsureInstance(t.Context(), one)).To(inZone("zone-b"))
	two := orderOf("two")
	two.Zones = []string{"zone-lost"}
	_, err = c.EnsureInstance(t.Context(), two)
	g.Expect(err).To(MatchError(`zones "zone-lost": unknown zone, allowed: zone-a, zone-b`))

	only := poolOrder(1)
	only.Name, only.Zones = "ns.only", []string{"zone-back"}
	removeZone = addNode(t, outerNode("zone-back"))
	made, err = c.EnsurePool(t.Context(), only, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (cloud.Pool, error) { return c.GetPool(t.Context(), only.Name) }, soon).Should(HaveField("Instances", BeEquivalentTo(1)))
	removeZone()
	_, err = c.ScalePool(t.Context(), only.Name, 2, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (cloud.Pool, error) { return c.GetPool(t.Context(), only.Name) }, soon).Should(
		HaveField("Problem", HaveValue(HaveField("Message", `zones "zone-back": unknown zone, allowed: zone-a, zone-b`))))
	addNode(t, outerNode("zone-back"))
	g.Eventually(func() (cloud.Pool, error) { return c.GetPool(t.Context(), only.Name) }, soon).Should(
		And(HaveField("Instances", BeEquivalentTo(2)), HaveField("Problem", BeNil())))
}

// A machine goes to a zone with a node of its architecture. Elsewhere, its Pod would wait forever.
func TestZonesOfArchitectures(t *testing.T) {
	g := NewWithT(t)
	for zone, architecture := range map[string]string{"zone-1": "amd64", "zone-2": "arm64"} {
		node := outerNode(zone)
		node.Labels["test.example/architectures"], node.Labels[corev1.LabelArchStable] = "all", architecture
		addNode(t, node)
		// The API server marks a new Node as not ready.
		_, err := outer.client.CoreV1().Nodes().Patch(t.Context(), zone, types.MergePatchType, []byte(`{"spec": {"taints": null}}`), metav1.PatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	c := managed(t, tenantOf(t, strings.Replace(offer, "images:", `
- {name: arm, cpus: 2, memory: 4Gi, architecture: arm64}
images:`, 1)+`
pods: {nodeSelector: {test.example/architectures: all}}
`))
	spec := poolOrder(2)
	spec.Template.Type, spec.Zones = "arm", []string{"zone-1", "zone-2"}
	_, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	inZone := func(zone string) OmegaMatcher { return HaveField("Zone", zone) }
	g.Eventually(func() ([]cloud.Instance, error) {
		return c.ListInstances(t.Context(), cloud.InstanceFilter{Pool: spec.Name})
	}, soon).Should(HaveLen(2))
	g.Expect(c.ListInstances(t.Context(), cloud.InstanceFilter{Pool: spec.Name})).To(HaveEach(inZone("zone-2")))
	one := orderOf("one")
	one.Type = "arm"
	g.Expect(c.EnsureInstance(t.Context(), one)).To(inZone("zone-2"))
	g.Expect(c.EnsureInstance(t.Context(), orderOf("two"))).To(inZone("zone-1"), "its type has any architecture")
}
