// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// addonOf returns an add-on with variants in pairs of a range of versions and a template.
func addonOf(name string, variants ...string) *extensionv1.Addon {
	made := &extensionv1.Addon{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	for i := 0; i+1 < len(variants); i += 2 {
		made.Spec.Variants = append(made.Spec.Variants, extensionv1.AddonVariant{KubernetesVersions: variants[i], Template: variants[i+1]})
	}
	return made
}

// A text that changes from one look to the next would be written again and again.
func TestRestingJobsGiveTheSameText(t *testing.T) {
	job := func(name, reason string) extensionv1.HookJob {
		made := extensionv1.HookJob{ObjectMeta: metav1.ObjectMeta{Name: name}}
		made.Status.Conditions = []metav1.Condition{{Type: extensionv1.HookJobCompletedCondition, Reason: reason, Message: "nothing is done"}}
		return made
	}
	g := NewWithT(t)
	a, b := job("a", extensionv1.HookJobRestingReason), job("b", extensionv1.HookJobRestingReason)
	g.Expect(resting([]extensionv1.HookJob{a, b})).To(Equal("HookJob a: nothing is done"))
	g.Expect(resting([]extensionv1.HookJob{b, a})).To(Equal("HookJob a: nothing is done"))
	g.Expect(resting([]extensionv1.HookJob{a, job("c", extensionv1.HookJobWaitingReason)})).To(BeEmpty())
}

func TestVariant(t *testing.T) {
	addon := addonOf("cni", "<1.36.0", "old", "1.36.x || 1.37.x", "new", ">=1.37.0", "never")
	for version, want := range map[string]string{
		"v1.35.4": "old", "v1.36.3": "new", "v1.36.0": "new", "v1.37.9": "new", "v1.38.0": "never", "1.36.3": "new",
		"v1.36.0-rc.1": "old", "v1.36.3+k3s1": "new",
	} {
		got, err := variant(addon, version)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(got).To(Equal(want), version)
	}
}

func TestTheVersionOfAControlPlane(t *testing.T) {
	for name, test := range map[string]struct {
		server   string
		reported []string
		want     string
	}{
		"nobody reports a version":        {"v1.37.0", nil, "v1.37.0"},
		"a kubelet that is older":         {"v1.36.3", []string{"v1.36.2"}, "v1.36.3"},
		"a new API server during a step":  {"v1.37.0", []string{"v1.37.0", "v1.36.3"}, "v1.36.3"},
		"an old API server during a step": {"v1.36.3", []string{"v1.36.3", "v1.37.0"}, "v1.36.3"},
		"three versions":                  {"v1.37.0", []string{"v1.36.3", "unknown", "v1.36.2", "v1.37.0"}, "v1.36.2"},
		"what vendors append":             {"v1.36.3-vendor.1", []string{"v1.36.3", "v1.37.0"}, "v1.36.3-vendor.1"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &clusterv1.Cluster{}
			if test.reported != nil {
				cluster.Status.ControlPlane = reporting(test.reported...)
			}
			NewWithT(t).Expect(oldest(test.server, cluster)).To(Equal(test.want))
		})
	}
}

// reporting is the status of a control plane whose machines have these versions.
func reporting(versions ...string) *clusterv1.ClusterControlPlaneStatus {
	status := &clusterv1.ClusterControlPlaneStatus{}
	for _, version := range versions {
		status.Versions = append(status.Versions, clusterv1.StatusVersion{Version: version, Replicas: 1})
	}
	return status
}

func TestContentsWithProblems(t *testing.T) {
	reader := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue-kubeconfig"}, Data: map[string][]byte{"value": []byte("hunter2")}},
	).Build()
	withSecret := func(name string) *extensionv1.Addon {
		made := addonOf("cni", "", "x")
		made.Spec.SecretName = name
		return made
	}
	wrongSelector := addonOf("cni", "", "x")
	wrongSelector.Spec.ClusterSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}
	for want, addon := range map[string]*extensionv1.Addon{
		`spec.clusterSelector: "Is" is not a valid label selector operator`:                                              wrongSelector,
		`spec.variants[1].kubernetesVersions is "newest", but must be a range of versions, for example >=1.35.0 <1.37.0`: addonOf("cni", "<1.0.0", "x", "newest", "y"),
		"document 1 is not an object": addonOf("cni", "", "x"),
		`reading its Secret: the API server answered NotFound for secrets "absent"`:            withSecret("absent"),
		`the type of the Secret blue-kubeconfig is "", but must be foo.cluster.x-k8s.io/addon`: withSecret("blue-kubeconfig"),
		`template:1:13: executing "template" at <.Variables.x>: map has no entry for key "x"`:  addonOf("cni", "", "{{ .Variables.x }}"),
	} {
		t.Run(want, func(t *testing.T) {
			made := read(t.Context(), reader, addon, blue, "v1.36.3")
			NewWithT(t).Expect(made.problem).To(Equal(want))
		})
	}
	NewWithT(t).Expect(read(t.Context(), reader, addonOf("cni", "<1.36.0", "x"), blue, "v1.36.3").missing).To(BeTrue())
	NewWithT(t).Expect(read(t.Context(), reader, addonOf("cni", "", "x"), blue, "latest").problem).To(Equal(`the Cluster's version is "latest", but must be one like v1.36.3`))
}

func TestProblemsTellNothingOfASecret(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "s", UID: "uid"}, Type: extensionv1.AddonValuesType, Data: map[string][]byte{"x": []byte("hunter2")},
	}
	reader := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(secret).Build()
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		text := rapid.SampledFrom([]string{"hunter2: [", "hunter2", "hunter2: 1\nhunter2: 2", "apiVersion: hunter2/a/b", "- hunter2", "\thunter2: x", "apiVersion: v1\nkind: Pod\nx: &hunter2 {}"}).Draw(t, "text")
		addon := addonOf("cni", "", strings.ReplaceAll(text, "hunter2", "{{ .Secret.x }}"))
		addon.Spec.SecretName = "s"
		made := read(t.Context(), reader, addon, blue, "v1.36.3")
		g.Expect(made.problem).To(HavePrefix("document 1 "))
		g.Expect(made.problem).NotTo(ContainSubstring("hunter2"))
	})
}

func TestAHashNeedsTheSecret(t *testing.T) {
	g := NewWithT(t)
	one, other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "2"}}
	g.Expect(hash("text", one)).To(Equal(hash("text", one)))
	g.Expect(hash("text", one)).NotTo(Equal(hash("text", other)))
	g.Expect(hash("text", one)).NotTo(Equal(hash("texts", one)))
}

func TestSelected(t *testing.T) {
	g := NewWithT(t)
	made := func(name string, order int32, labels map[string]string) extensionv1.Addon {
		one := *addonOf(name)
		one.Spec.Order, one.Spec.ClusterSelector.MatchLabels = order, labels
		return one
	}
	var names []string
	for _, one := range selected([]extensionv1.Addon{
		made("b", 5, map[string]string{}), made("other", 0, map[string]string{"cni": "calico"}), made("c", -1, map[string]string{"cni": "flannel"}), made("a", 5, map[string]string{}),
	}, blue) {
		names = append(names, one.Name)
	}
	g.Expect(names).To(Equal([]string{"c", "a", "b"}))
}

func TestRefuseShared(t *testing.T) {
	g := NewWithT(t)
	of := func(name, text string) content {
		objects, err := parseManifests(text)
		g.Expect(err).NotTo(HaveOccurred())
		return content{addon: addonOf(name), objects: objects}
	}
	all := []content{
		of("a", manifest("apps/v1", "Deployment", "d")), of("b", "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: d, namespace: default}\n"),
		of("c", manifest("v1", "Pod", "p")), of("d", strings.Repeat("---\n"+manifest("v1", "Service", "s"), 2)),
	}
	refuseShared(all)
	g.Expect(all[0].problem).To(BeEmpty())
	g.Expect(all[1].problem).To(Equal("Deployment default/d is already in the add-on a"))
	g.Expect(all[2].problem).To(BeEmpty())
	g.Expect(all[3].problem).To(Equal("Service s is already in the add-on d"))

	many := []content{of("a", strings.Repeat("---\n"+manifest("v1", "Pod", "p"), maxObjects+1))}
	refuseShared(many)
	g.Expect(many[0].problem).NotTo(BeEmpty())
}
