// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestMachineName(t *testing.T) {
	tests := map[string]struct {
		name, template, prefix, problem string
	}{
		"default":                 {name: "cp", prefix: "cp-"},
		"with the cluster's name": {name: "cp", template: "{{ .cluster.name }}-x-{{ .random }}", prefix: "demo-x-"},
		"a KubeadmControlPlane's": {name: "cp", template: "{{ .kubeadmControlPlane.name }}-{{.random}}", prefix: "cp-"},
		"too long":                {name: strings.Repeat("a", 80), prefix: strings.Repeat("a", 58)},
		"without a random part":   {name: "cp", template: "{{ .cluster.name }}", problem: "must contain {{ .random }}"},
		"with an unknown field":   {name: "cp", template: "{{ .zone }}-{{ .random }}", problem: "zone"},
		"not a host name":         {name: "cp", template: "Big_{{ .random }}", problem: "lower case"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Name: test.name}}
			controlPlane.Spec.MachineNaming.Template = test.template
			got, err := machineName(controlPlane, "demo", "abcde")
			if test.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(HavePrefix(test.prefix))
			g.Expect(len(got)).To(BeNumerically("<=", 63))
		})
	}
}

func TestReadInfraCluster(t *testing.T) {
	object := func(status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"spec":   map[string]any{"controlPlaneEndpoint": map[string]any{"host": "h", "port": int64(6443)}},
			"status": status,
		}}
	}
	want := infraCluster{
		Endpoint:    clusterv1.APIEndpoint{Host: "h", Port: 6443},
		Provisioned: true,
		FailureDomains: []clusterv1.FailureDomain{
			{Name: "a", ControlPlane: ptr.To(true)}, {Name: "b", ControlPlane: ptr.To(false)},
		},
	}
	g := NewWithT(t)
	g.Expect(readInfraCluster(object(map[string]any{
		"initialization": map[string]any{"provisioned": true},
		"failureDomains": []any{
			map[string]any{"name": "a", "controlPlane": true}, map[string]any{"name": "b", "controlPlane": false},
		},
	}))).To(Equal(want), "contract v1beta2")
	g.Expect(readInfraCluster(object(map[string]any{
		"ready": true,
		"failureDomains": map[string]any{
			"b": map[string]any{"controlPlane": false}, "a": map[string]any{"controlPlane": true},
		},
	}))).To(Equal(want), "contract v1beta1")
	g.Expect(readInfraCluster(&unstructured.Unstructured{Object: map[string]any{}})).To(Equal(infraCluster{}))
	g.Expect(forControlPlane(want.FailureDomains)).To(Equal(want.FailureDomains[:1]))
}

func TestConfigDifference(t *testing.T) {
	controlPlane := &controlplanev1.FooControlPlane{}
	controlPlane.Spec.Version = "v1.35.4"
	controlPlane.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"}
	for _, as := range []role{roleInit, roleJoin} {
		t.Run(string(as), func(t *testing.T) {
			g := NewWithT(t)
			spec, err := desiredConfigSpec(controlPlane, as)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(spec.ClusterConfiguration.FeatureGates).To(HaveKeyWithValue("ControlPlaneKubeletLocalMode", true), "kubeadm before 1.36 needs it")
			machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
			s := &scope{controlPlane: controlPlane, madeFrom: madeFrom{Outcome: "something"}, configs: map[string]*bootstrapv1.KubeadmConfig{"m": {Spec: spec}}}
			filled := &s.configs["m"].Spec
			filled.ClusterConfiguration.ControlPlaneEndpoint = "10.0.0.1:6443"
			filled.Format = bootstrapv1.CloudConfig
			filled.JoinConfiguration.Discovery.BootstrapToken.Token = "abcdef.0123456789abcdef"
			g.Expect(s.configDifference(machine)).To(BeEmpty(), "the bootstrap provider fills these in")

			filled.PreKubeadmCommands = []string{"false"}
			g.Expect(s.configDifference(machine)).NotTo(BeEmpty())
		})
	}
}

func TestWhatAMachineJoinsWith(t *testing.T) {
	file := bootstrapv1.Discovery{File: bootstrapv1.FileDiscovery{KubeConfigPath: "/etc/kubernetes/discovery.conf"}}
	for name, test := range map[string]struct{ given, want bootstrapv1.Discovery }{
		"a new token":      {bootstrapv1.Discovery{}, byToken(fakeToken)},
		"the user's token": {byToken("fedcba.0123456789abcdef"), byToken("fedcba.0123456789abcdef")},
		"the user's file":  {file, file},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := &Reconciler{workload: newFakeWorkload()}
			config := &bootstrapv1.KubeadmConfig{Spec: bootstrapv1.KubeadmConfigSpec{JoinConfiguration: bootstrapv1.JoinConfiguration{Discovery: test.given}}}
			g.Expect(r.giveToken(t.Context(), &scope{cluster: &clusterv1.Cluster{}}, config)).To(Succeed())
			g.Expect(config.Spec.JoinConfiguration.Discovery).To(Equal(test.want))
		})
	}
}

func byToken(token string) bootstrapv1.Discovery {
	return bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{Token: token}}
}

func TestReadinessGates(t *testing.T) {
	g := NewWithT(t)
	extra := []clusterv1.MachineReadinessGate{{ConditionType: "Theirs"}, {ConditionType: controlplanev1.MachineSchedulerPodHealthyCondition}}
	gates := readinessGates(workload.EtcdExternal, extra)
	g.Expect(gates).To(HaveLen(5), "there are no duplicates")
	g.Expect(gates).NotTo(ContainElement(HaveField("ConditionType", controlplanev1.MachineEtcdMemberHealthyCondition)))
}

func TestVersions(t *testing.T) {
	machine := func(version string) *clusterv1.Machine {
		return &clusterv1.Machine{Spec: clusterv1.MachineSpec{Version: version}}
	}
	NewWithT(t).Expect(versions([]*clusterv1.Machine{machine("v1.36.3"), machine("v1.9.0"), machine("v1.36.3")})).To(Equal(
		[]clusterv1.StatusVersion{{Version: "v1.9.0", Replicas: 1}, {Version: "v1.36.3", Replicas: 2}}))
}
