// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

func valid() *controlplanev1.FooControlPlane {
	controlPlane := &controlplanev1.FooControlPlane{}
	controlPlane.Spec.Version = "v1.36.3"
	return controlPlane
}

func externalEtcd(config *bootstrapv1.KubeadmConfigSpec) {
	config.ClusterConfiguration.Etcd.External = bootstrapv1.ExternalEtcd{
		Endpoints: []string{"https://etcd.example.com:2379"}, CAFile: "/ca", CertFile: "/crt", KeyFile: "/key",
	}
}

func messages(problems field.ErrorList) []string {
	result := make([]string, 0, len(problems))
	for _, problem := range problems {
		result = append(result, problem.Error())
	}
	return result
}

func TestValidateVersionChange(t *testing.T) {
	tests := map[string]struct {
		from, to string
		running  []string
		want     []string
	}{
		"a patch":                     {"v1.36.3", "v1.36.4", []string{"v1.36.3"}, nil},
		"a minor":                     {"v1.35.4", "v1.36.3", []string{"v1.35.4"}, nil},
		"to any patch of the minor":   {"v1.35.0", "v1.36.99", []string{"v1.35.0"}, nil},
		"two minors":                  {"v1.34.4", "v1.36.3", []string{"v1.34.4"}, []string{`spec.version: Invalid value: "v1.36.3": must be at most one minor version above v1.34.4, the oldest version in the control plane: upgrade to v1.35 first`}},
		"a pre-release two minors up": {"v1.34.4", "v1.36.0-rc.0", []string{"v1.34.4"}, []string{`spec.version: Invalid value: "v1.36.0-rc.0": must be at most one minor version above v1.34.4, the oldest version in the control plane: upgrade to v1.35 first`}},
		"a major":                     {"v1.36.3", "v2.0.0", []string{"v1.36.3"}, []string{`spec.version: Invalid value: "v2.0.0": must be at most one minor version above v1.36.3, the oldest version in the control plane: upgrade to v1.37 first`}},
		"on, before all have arrived": {"v1.35.4", "v1.36.3", []string{"v1.34.4", "v1.35.4"}, []string{`spec.version: Invalid value: "v1.36.3": must be at most one minor version above v1.34.4, the oldest version in the control plane: upgrade to v1.35 first`}},
		"down":                        {"v1.36.3", "v1.35.4", []string{"v1.36.3"}, []string{`spec.version: Invalid value: "v1.35.4": must not be below v1.36.3, the oldest version in the control plane: Kubernetes cannot be downgraded`}},
		"down by a patch":             {"v1.36.3", "v1.36.2", []string{"v1.36.3"}, []string{`spec.version: Invalid value: "v1.36.2": must not be below v1.36.3, the oldest version in the control plane: Kubernetes cannot be downgraded`}},
		"back before any has it":      {"v1.36.3", "v1.35.4", []string{"v1.35.4"}, nil},
		"back while one has it":       {"v1.36.3", "v1.35.4", []string{"v1.35.4", "v1.36.3"}, nil},
		"back from what never came":   {"v1.36.30", "v1.36.3", []string{"v1.36.3", "v1.36.30"}, nil},
		"below all":                   {"v1.36.3", "v1.35.3", []string{"v1.35.4", "v1.36.3"}, []string{`spec.version: Invalid value: "v1.35.3": must not be below v1.35.4, the oldest version in the control plane: Kubernetes cannot be downgraded`}},
		"from an older without v":     {"1.35.4", "v1.36.3", []string{"1.35.4"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := valid()
			before.Spec.Version = test.from
			before.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
			for _, running := range test.running {
				before.Status.Versions = append(before.Status.Versions, clusterv1.StatusVersion{Version: running, Replicas: 1})
			}
			after := before.DeepCopy()
			after.Spec.Version = test.to
			NewWithT(t).Expect(messages(changeControlPlane(t.Context(), before, after))).To(ConsistOf(test.want))
		})
	}
}

func TestAnyVersionBeforeInitialization(t *testing.T) {
	for name, running := range map[string][]clusterv1.StatusVersion{
		"without Machines":                  nil,
		"with one that may never come up":   {{Version: "v1.36.30", Replicas: 1}},
		"with one of a version by accident": {{Version: "v1.63.3", Replicas: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			before := valid()
			before.Status.Versions = running
			for _, version := range []string{"v1.30.0", "v1.36.3", "v1.38.0"} {
				after := before.DeepCopy()
				after.Spec.Version = version
				NewWithT(t).Expect(changeControlPlane(t.Context(), before, after)).To(BeEmpty(), version)
			}
		})
	}
}

func TestVersionOfAnInitializedControlPlaneWithoutVersions(t *testing.T) {
	before := valid()
	before.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	after := before.DeepCopy()
	after.Spec.Version = "v1.35.0"
	NewWithT(t).Expect(messages(changeControlPlane(t.Context(), before, after))).To(ConsistOf(
		`spec.version: Invalid value: "v1.35.0": must not be below v1.36.3, the oldest version in the control plane: Kubernetes cannot be downgraded`))
}

func TestValidateChanges(t *testing.T) {
	const config = "spec.kubeadmConfigSpec."
	fixed := func(values string) string {
		return ": Forbidden: is immutable" + values + ": existing machines were created with it"
	}
	tests := map[string]struct {
		change func(*controlplanev1.FooControlPlane)
		want   []string
	}{
		"labels":   {func(c *controlplanev1.FooControlPlane) { c.Labels = map[string]string{"a": "b"} }, nil},
		"replicas": {func(c *controlplanev1.FooControlPlane) { c.Spec.Replicas = ptr.To[int32](5) }, nil},
		"template": {func(c *controlplanev1.FooControlPlane) { c.Spec.MachineTemplate.Spec.InfrastructureRef.Name = "other" }, nil},
		"machine labels": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"a": "b"}
		}, nil},
		"rollout":     {func(c *controlplanev1.FooControlPlane) { c.Spec.Rollout.After = metav1.NewTime(time.Now()) }, nil},
		"remediation": {func(c *controlplanev1.FooControlPlane) { c.Spec.Remediation.MaxRetry = ptr.To[int32](1) }, nil},
		"naming":      {func(c *controlplanev1.FooControlPlane) { c.Spec.MachineNaming.Template = "{{ .random }}" }, nil},
		"files": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a"}}
		}, nil},
		"commands": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"true"}
		}, nil},
		"API server flags": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = []string{"a"}
		}, nil},
		"feature gates": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.FeatureGates = map[string]bool{"A": true}
		}, nil},
		"images": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "r"
		}, nil},
		"the kind of keys": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmRSA4096
		}, nil},
		"kubelet flags": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.JoinConfiguration.NodeRegistration.Name = "n"
		}, nil},
		"certificate folder": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificatesDir = "/b"
		}, []string{config + "clusterConfiguration.certificatesDir" + fixed(`, so it must not change from "/a" to "/b"`)}},
		"endpoint": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.ControlPlaneEndpoint = "b:6443"
		}, []string{config + "clusterConfiguration.controlPlaneEndpoint" + fixed(`, so it must not be set to "b:6443" later`)}},
		"authority's life": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.CACertificateValidityPeriodDays = 4000
		}, []string{config + "clusterConfiguration.caCertificateValidityPeriodDays" + fixed(", so it must not be set to 4000 later")}},
		"all of the cluster configuration": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration = bootstrapv1.ClusterConfiguration{}
		}, []string{config + "clusterConfiguration.certificatesDir" + fixed(`, so its value "/a" must not be removed`)}},
		"to external etcd": {func(c *controlplanev1.FooControlPlane) { externalEtcd(&c.Spec.KubeadmConfigSpec) }, []string{config + "clusterConfiguration.etcd.external: Forbidden: etcd cannot be moved between the control plane's own machines and an external cluster"}},
		"CoreDNS up": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.12.0"
		}, nil},
		"CoreDNS down": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.10.0"
		}, []string{
			config + `clusterConfiguration.dns.imageTag: Invalid value: "v1.10.0": CoreDNS cannot be migrated to it from v1.11.1: cannot migrate up to '1.10.0' from '1.11.1'; annotate the FooControlPlane with controlplane.cluster.x-k8s.io/skip-coredns to manage CoreDNS yourself`,
		}},
		"CoreDNS down by the user": {func(c *controlplanev1.FooControlPlane) {
			c.Annotations = map[string]string{kubeadmcontrolplanev1.SkipCoreDNSAnnotation: ""}
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.10.0"
		}, nil},
		"CoreDNS of another build": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.11.1_x.2"
		}, nil},
		"CoreDNS as it comes": {func(c *controlplanev1.FooControlPlane) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS = bootstrapv1.DNS{}
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := valid()
			before.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificatesDir = "/a"
			before.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.11.1"
			after := before.DeepCopy()
			test.change(after)
			NewWithT(t).Expect(messages(changeControlPlane(t.Context(), before, after))).To(ConsistOf(test.want))
		})
	}
}

func TestFromExternalEtcd(t *testing.T) {
	before := valid()
	externalEtcd(&before.Spec.KubeadmConfigSpec)
	after := valid()
	NewWithT(t).Expect(messages(changeControlPlane(t.Context(), before, after))).To(ConsistOf(
		"spec.kubeadmConfigSpec.clusterConfiguration.etcd.external: Forbidden: etcd cannot be moved between the control plane's own machines and an external cluster"))
}

func TestValidateTemplateUpdate(t *testing.T) {
	g := NewWithT(t)
	before := &controlplanev1.FooControlPlaneTemplate{}
	after := before.DeepCopy()
	after.Spec.Template.ObjectMeta.Labels = map[string]string{"a": "b"}
	g.Expect(changeTemplate(before, after)).To(BeEmpty())
	after.Spec.Template.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"}
	after.Spec.Template.Spec.MachineNaming.Template = "{{ .random }}"
	after.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "here"
	after.Spec.Template.Spec.KubeadmConfigSpec.JoinConfiguration.Discovery.BootstrapToken.Token = "not to be told"
	way := ": clusters are created from the template; create another template and refer to it"
	g.Expect(messages(changeTemplate(before, after))).To(Equal([]string{
		"spec.template.spec.kubeadmConfigSpec.clusterConfiguration.imageRepository: Forbidden: is immutable, so it must not be set to \"here\" later" + way,
		"spec.template.spec.kubeadmConfigSpec.joinConfiguration.discovery.bootstrapToken.token: Forbidden: is immutable" + way,
		"spec.template.spec.kubeadmConfigSpec.preKubeadmCommands: Forbidden: is immutable" + way,
		"spec.template.spec.machineNaming.template: Forbidden: is immutable, so it must not be set to \"{{ .random }}\" later" + way,
	}))
}
