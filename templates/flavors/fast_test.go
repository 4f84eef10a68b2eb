// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package flavors_test

import (
	"bytes"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

func fast(t *testing.T) []byte {
	t.Helper()
	content, err := flavors.Get(flavors.Fast)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return content
}

// Programs create the same clusters that users get with the flavor's name.
func TestItIsTheFlavorOfTheRelease(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(named(g, build(t), flavors.Fast).Content)).To(Equal(string(fast(t))))
}

func TestOnlyTheFirstMachineSkipsChecks(t *testing.T) {
	g := NewWithT(t)
	config := controlPlaneConfig(t)
	g.Expect(config.InitConfiguration.SkipPhases).To(Equal([]string{"preflight"}))
	g.Expect(config.JoinConfiguration.SkipPhases).To(BeEmpty())
}

// controlPlaneConfig returns the kubeadm configuration of the template's control plane.
func controlPlaneConfig(t *testing.T) bootstrapv1.KubeadmConfigSpec {
	t.Helper()
	for _, document := range bytes.Split(fast(t), []byte("\n---\n")) {
		if !bytes.Contains(document, []byte("\nkind: FooControlPlane\n")) {
			continue
		}
		var object struct {
			Spec struct {
				KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec"`
			} `json:"spec"`
		}
		NewWithT(t).Expect(yaml.Unmarshal(document, &object)).To(Succeed())
		return object.Spec.KubeadmConfigSpec
	}
	t.Fatal("the template has no FooControlPlane")
	return bootstrapv1.KubeadmConfigSpec{}
}

// A control plane machine is ready only when the kubelet reports all four components as ready, and
// the next machine waits for it. Later probes cost CPU time for as long as the cluster exists.
func TestStartedComponentsAreNoticedWithinASecond(t *testing.T) {
	config := controlPlaneConfig(t)
	const folder = "/etc/kubernetes/patches"
	g := NewWithT(t)
	g.Expect(config.InitConfiguration.Patches.Directory).To(Equal(folder))
	g.Expect(config.JoinConfiguration.Patches.Directory).To(Equal(folder))
	patches := map[string]string{}
	for _, file := range config.Files {
		patches[file.Path] = file.Content
	}
	for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		t.Run(component, func(t *testing.T) {
			g := NewWithT(t)
			text, err := yaml.YAMLToJSON([]byte(patches[folder+"/"+component+"+json.yaml"]))
			g.Expect(err).NotTo(HaveOccurred())
			patch, err := jsonpatch.DecodePatch(text)
			g.Expect(err).NotTo(HaveOccurred())
			// The fields of the probes that kubeadm writes.
			probe := &corev1.Probe{InitialDelaySeconds: 10, PeriodSeconds: 10, FailureThreshold: 24, TimeoutSeconds: 15}
			container := corev1.Container{Name: component, Command: []string{component}, StartupProbe: probe}
			if component != "kube-controller-manager" {
				container.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 3, TimeoutSeconds: 15}
			}
			before, err := yaml.Marshal(corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}})
			g.Expect(err).NotTo(HaveOccurred())
			before, err = yaml.YAMLToJSON(before)
			g.Expect(err).NotTo(HaveOccurred())
			after, err := patch.Apply(before)
			g.Expect(err).NotTo(HaveOccurred())
			var pod corev1.Pod
			g.Expect(yaml.Unmarshal(after, &pod)).To(Succeed())
			g.Expect(pod.Spec.Containers[0].StartupProbe).To(Equal(&corev1.Probe{
				PeriodSeconds: 1, FailureThreshold: probe.FailureThreshold * probe.PeriodSeconds, TimeoutSeconds: 15,
			}))
			if container.ReadinessProbe != nil {
				g.Expect(pod.Spec.Containers[0].ReadinessProbe).To(Equal(&corev1.Probe{PeriodSeconds: 3, FailureThreshold: 3, TimeoutSeconds: 15}))
			}
		})
	}
}
