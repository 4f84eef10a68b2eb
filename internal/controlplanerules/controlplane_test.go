// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

func valid() *controlplanev1.FooControlPlane {
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cp"}}
	controlPlane.Spec.Replicas = ptr.To[int32](3)
	controlPlane.Spec.Version = "v1.36.3"
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooMachineTemplate", Name: "t",
	}
	return controlPlane
}

func messages(errs field.ErrorList) []string {
	result := make([]string, 0, len(errs))
	for _, err := range errs {
		result = append(result, err.Error())
	}
	return result
}

type spec = controlplanev1.FooControlPlaneSpec

func surge(value int32) func(*spec) {
	return func(s *spec) {
		s.Rollout.Strategy.Type = controlplanev1.RollingUpdateStrategyType
		s.Rollout.Strategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromInt32(value))
	}
}

func all(changes ...func(*spec)) func(*spec) {
	return func(s *spec) {
		for _, change := range changes {
			change(s)
		}
	}
}

func replicas(number int32) func(*spec) { return func(s *spec) { s.Replicas = ptr.To(number) } }

func config(change func(*bootstrapv1.KubeadmConfigSpec)) func(*spec) {
	return func(s *spec) { change(&s.KubeadmConfigSpec) }
}

func externalEtcd(c *bootstrapv1.KubeadmConfigSpec) {
	c.ClusterConfiguration.Etcd.External = bootstrapv1.ExternalEtcd{
		Endpoints: []string{"https://etcd.example.com:2379"}, CAFile: "/ca", CertFile: "/crt", KeyFile: "/key",
	}
}

func gate(conditionType string) clusterv1.MachineReadinessGate {
	return clusterv1.MachineReadinessGate{ConditionType: conditionType}
}

func taints(list ...clusterv1.MachineTaint) func(*spec) {
	return func(s *spec) { s.MachineTemplate.Spec.Taints = list }
}

func taint(key string) clusterv1.MachineTaint {
	return clusterv1.MachineTaint{Key: key, Effect: corev1.TaintEffectNoSchedule, Propagation: clusterv1.MachineTaintPropagationAlways}
}

// allowTaints switches on the feature gate for the test.
func allowTaints(t *testing.T) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, feature.Gates, feature.MachineTaintPropagation, true)
}

// Cluster API's core refuses Machines with taints while the gate is off, so the control plane would never start.
func TestTaintsNeedTheFeatureGate(t *testing.T) {
	const refused = "Forbidden: Cluster API rejects Machines with taints while its feature gate MachineTaintPropagation is disabled; enable it in Cluster API's core and in this manager"
	expect(t, taints(taint("a"), taint("b")), []string{
		"spec.machineTemplate.spec.taints[a=:NoSchedule]: " + refused, "spec.machineTemplate.spec.taints[b=:NoSchedule]: " + refused,
	})
	template := &controlplanev1.FooControlPlaneTemplate{}
	template.Spec.Template.Spec.MachineTemplate.Spec.Taints = []clusterv1.MachineTaint{taint("a")}
	NewWithT(t).Expect(messages(ValidateTemplate(template))).To(ConsistOf("spec.template.spec.machineTemplate.spec.taints[a=:NoSchedule]: " + refused))
	allowTaints(t)
	expect(t, taints(taint("a"), taint("b")), nil)
}

func naming(template string) func(*spec) {
	return func(s *spec) { s.MachineNaming.Template = template }
}

func expiry(days int32) func(*spec) {
	return func(s *spec) { s.Rollout.Before.CertificatesExpiryDays = days }
}

func infra(change func(*clusterv1.ContractVersionedObjectReference)) func(*spec) {
	return func(s *spec) { change(&s.MachineTemplate.Spec.InfrastructureRef) }
}

const evenReplicas = "must be odd: an even number of etcd members tolerates no more failures than one member fewer; even numbers are allowed with external etcd only"

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*spec)
		want   []string
	}{
		"nothing wrong":        {func(*spec) {}, nil},
		"a version without v":  {func(s *spec) { s.Version = "1.36.3" }, nil},
		"a pre-release":        {func(s *spec) { s.Version = "v1.37.0-rc.1+build" }, nil},
		"no version":           {func(s *spec) { s.Version = "" }, []string{`spec.version: Required value: a Kubernetes version such as v1.36.3`}},
		"no semantic version":  {func(s *spec) { s.Version = "v1.36" }, []string{`spec.version: Invalid value: "v1.36": must be a semantic version such as v1.36.3`}},
		"a word for a version": {func(s *spec) { s.Version = "latest" }, []string{`spec.version: Invalid value: "latest": must be a semantic version such as v1.36.3`}},
		"leading zeros":        {func(s *spec) { s.Version = "v1.036.3" }, []string{`spec.version: Invalid value: "v1.036.3": must be a semantic version such as v1.36.3`}},
		"replicas by default":  {func(s *spec) { s.Replicas = nil }, nil},
		"no replicas":          {replicas(0), []string{`spec.replicas: Invalid value: 0: must be at least 1: to remove the control plane, delete the FooControlPlane`}},
		"negative replicas":    {replicas(-1), []string{`spec.replicas: Invalid value: -1: must be at least 1: to remove the control plane, delete the FooControlPlane`}},
		"even replicas":        {replicas(2), []string{`spec.replicas: Invalid value: 2: ` + evenReplicas}},
		"more even replicas":   {replicas(4), []string{`spec.replicas: Invalid value: 4: ` + evenReplicas}},
		"even, external etcd":  {all(replicas(2), config(externalEtcd)), nil},
		"none, external etcd":  {all(replicas(0), config(externalEtcd)), []string{`spec.replicas: Invalid value: 0: must be at least 1: to remove the control plane, delete the FooControlPlane`}},
		"five replicas":        {replicas(5), nil},
		"no template": {infra(func(r *clusterv1.ContractVersionedObjectReference) { *r = clusterv1.ContractVersionedObjectReference{} }), []string{
			`spec.machineTemplate.spec.infrastructureRef.apiGroup: Required value: must identify the infrastructure machine template`,
			`spec.machineTemplate.spec.infrastructureRef.kind: Required value: must identify the infrastructure machine template`,
			`spec.machineTemplate.spec.infrastructureRef.name: Required value: must identify the infrastructure machine template`,
		}},
		"no kind of a template": {infra(func(r *clusterv1.ContractVersionedObjectReference) { r.Kind = "FooMachine" }), []string{
			`spec.machineTemplate.spec.infrastructureRef.kind: Invalid value: "FooMachine": must be the kind of a template, such as FooMachineTemplate`,
		}},
		"the kind Template": {infra(func(r *clusterv1.ContractVersionedObjectReference) { r.Kind = "Template" }), []string{
			`spec.machineTemplate.spec.infrastructureRef.kind: Invalid value: "Template": must be the kind of a template, such as FooMachineTemplate`,
		}},
		"a template's namespace in its name": {infra(func(r *clusterv1.ContractVersionedObjectReference) { r.Name = "other/t" }), []string{
			`spec.machineTemplate.spec.infrastructureRef.name: Invalid value: "other/t": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		}},
		"another provider's template": {infra(func(r *clusterv1.ContractVersionedObjectReference) { r.Kind = "DockerMachineTemplate" }), nil},
		"a wrong label": {func(s *spec) { s.MachineTemplate.ObjectMeta.Labels = map[string]string{"a": "b c"} }, []string{
			`spec.machineTemplate.metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		}},
		"a gate": {func(s *spec) {
			s.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{gate("example.com/Scanned")}
		}, nil},
		"a gate twice": {func(s *spec) {
			s.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{gate("A"), gate("A")}
		}, []string{`spec.machineTemplate.spec.readinessGates[1].conditionType: Duplicate value: "A"`}},
		"a gate of no name": {func(s *spec) { s.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{gate("a b")} }, []string{
			`spec.machineTemplate.spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		}},
		"a taint":                {taints(taint("dedicated")), nil},
		"the out-of-service one": {taints(taint("node.kubernetes.io/out-of-service")), nil},
		"a taint of Kubernetes":  {taints(taint("node.kubernetes.io/not-ready")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "node.kubernetes.io/not-ready": is managed by Kubernetes; of its taints, only node.kubernetes.io/out-of-service may be set`}},
		"a taint of Cluster API": {taints(taint("node.cluster.x-k8s.io/uninitialized")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "node.cluster.x-k8s.io/uninitialized": is managed by Cluster API`}},
		"another of Cluster API": {taints(taint("node.cluster.x-k8s.io/outdated-revision")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "node.cluster.x-k8s.io/outdated-revision": is managed by Cluster API`}},
		"a taint of clouds":      {taints(taint("node.cloudprovider.kubernetes.io/shutdown")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "node.cloudprovider.kubernetes.io/shutdown": is managed by cloud providers`}},
		"an old taint":           {taints(taint("node-role.kubernetes.io/master")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "node-role.kubernetes.io/master": has been obsolete since Kubernetes 1.24`}},
		"a taint twice":          {taints(taint("a"), taint("a")), []string{`spec.machineTemplate.spec.taints[1]: Duplicate value: "a:NoSchedule"`}},
		"a taint without key":    {taints(taint("")), []string{`spec.machineTemplate.spec.taints[0].key: Invalid value: "": name part must be non-empty, name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
		"a taint's effect": {taints(clusterv1.MachineTaint{Key: "a", Effect: "Never", Propagation: clusterv1.MachineTaintPropagationAlways}), []string{
			`spec.machineTemplate.spec.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		}},
		"a taint's propagation": {taints(clusterv1.MachineTaint{Key: "a", Effect: corev1.TaintEffectNoExecute}), []string{
			`spec.machineTemplate.spec.taints[0].propagation: Unsupported value: "": supported values: "Always", "OnInitialization"`,
		}},
		"timeouts":         {func(s *spec) { s.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](0) }, nil},
		"a name":           {naming("{{ .cluster.name }}-{{ .random }}"), nil},
		"a KCP's name":     {naming("{{ .kubeadmControlPlane.name }}-{{.random}}"), nil},
		"no random part":   {naming("{{ .cluster.name }}-1"), []string{`spec.machineNaming.template: Invalid value: "{{ .cluster.name }}-1": must contain {{ .random }}, so that no two Machines have the same name`}},
		"no Go template":   {naming("{{ .random }}{{ if }}"), []string{`spec.machineNaming.template: Invalid value: "{{ .random }}{{ if }}": must be a Go template: template: machineNaming:1: missing value for if`}},
		"an unknown value": {naming("{{ .random }}-{{ .zone }}"), []string{`spec.machineNaming.template: Invalid value: "{{ .random }}-{{ .zone }}": may use only .cluster.name, .fooControlPlane.name and .random: template: machineNaming:1:17: executing "machineNaming" at <.zone>: map has no entry for key "zone"`}},
		"names that no object can have": {naming("A_{{ .random }}"), []string{
			`spec.machineNaming.template: Invalid value: "A_{{ .random }}": produces names such as "A_abcde": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		}},
		"surge 1":              {surge(1), nil},
		"surge 0":              {surge(0), nil},
		"surge 1, one":         {all(surge(1), replicas(1)), nil},
		"surge 0, one":         {all(surge(0), replicas(1)), []string{`spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: "0": must be 1 with fewer than 3 replicas: no Machine may be deleted before its replacement exists`}},
		"a time for a rollout": {func(s *spec) { s.Rollout.After = metav1.NewTime(time.Now()) }, nil},
		"expiry":               {expiry(30), nil},
		"expiry of a year":     {expiry(365), []string{`spec.rollout.before.certificatesExpiryDays: Invalid value: 365: must be less than certificateValidityPeriodDays, 365 days: otherwise Machines would be replaced over and over`}},
		"expiry of short certificates": {all(expiry(30), config(func(c *bootstrapv1.KubeadmConfigSpec) { c.ClusterConfiguration.CertificateValidityPeriodDays = 30 })), []string{
			`spec.rollout.before.certificatesExpiryDays: Invalid value: 30: must be less than certificateValidityPeriodDays, 30 days: otherwise Machines would be replaced over and over`,
		}},
		"certificates that outlive their authority": {config(func(c *bootstrapv1.KubeadmConfigSpec) {
			c.ClusterConfiguration.CertificateValidityPeriodDays, c.ClusterConfiguration.CACertificateValidityPeriodDays = 200, 100
		}), []string{`spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays: Invalid value: 200: must be at most caCertificateValidityPeriodDays, 100 days: a certificate cannot outlive its CA`}},
		"certificates that outlive the default": {config(func(c *bootstrapv1.KubeadmConfigSpec) {
			c.ClusterConfiguration.CertificateValidityPeriodDays = 4000
		}), []string{`spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays: Invalid value: 4000: must be at most caCertificateValidityPeriodDays, 3650 days: a certificate cannot outlive its CA`}},
	}
	allowTaints(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { expect(t, test.change, test.want) })
	}
}

func expect(t *testing.T, change func(*spec), want []string) {
	t.Helper()
	controlPlane := valid()
	change(&controlPlane.Spec)
	before := controlPlane.DeepCopy()
	NewWithT(t).Expect(messages(Validate(controlPlane))).To(ConsistOf(want))
	NewWithT(t).Expect(controlPlane).To(Equal(before), "a rule changes nothing")
}

func TestValidateKubeadmConfig(t *testing.T) {
	type c = bootstrapv1.KubeadmConfigSpec
	cluster := `spec.kubeadmConfigSpec.clusterConfiguration`
	tests := map[string]struct {
		change func(*c)
		want   []string
	}{
		"a CoreDNS image":    {func(s *c) { s.ClusterConfiguration.DNS.ImageTag = "v1.12.1_build.3" }, nil},
		"no CoreDNS version": {func(s *c) { s.ClusterConfiguration.DNS.ImageTag = "stable" }, []string{cluster + `.dns.imageTag: Invalid value: "stable": must start with a CoreDNS version, such as v1.12.1`}},
		"no CoreDNS tag":     {func(s *c) { s.ClusterConfiguration.DNS.ImageTag = "v1.12.1+a" }, []string{cluster + `.dns.imageTag: Invalid value: "v1.12.1+a": must be an image tag: at most 128 letters, digits, underscores, periods and hyphens`}},
		"an etcd image":      {func(s *c) { s.ClusterConfiguration.Etcd.Local.ImageTag = "3.6.5-0" }, nil},
		"no etcd tag":        {func(s *c) { s.ClusterConfiguration.Etcd.Local.ImageTag = "3.6:5" }, []string{cluster + `.etcd.local.imageTag: Invalid value: "3.6:5": must be an image tag: at most 128 letters, digits, underscores, periods and hyphens`}},
		"two etcds":          {func(s *c) { externalEtcd(s); s.ClusterConfiguration.Etcd.Local.ImageTag = "3.6.5-0" }, []string{cluster + `.etcd.local: Forbidden: must not be set together with etcd.external`}},
		"Ignition":           {func(s *c) { s.Format = bootstrapv1.Ignition }, nil},
		"a file twice": {func(s *c) {
			s.Files = []bootstrapv1.File{{Path: "/a", Content: "hidden"}, {Path: "/a", Content: "hidden"}}
		}, []string{`spec.kubeadmConfigSpec.files[1].path: Invalid value: path property must be unique among all files`}},
		"a file from nowhere": {func(s *c) {
			s.Files = []bootstrapv1.File{{Path: "/a", ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretFileSource{Name: "s"}}}}
		}, []string{`spec.kubeadmConfigSpec.files[0].contentFrom.secret.key: Required value: secret file source must specify non-empty secret key`}},
		"a password twice": {func(s *c) {
			s.Users = []bootstrapv1.User{{Name: "u", Passwd: "hidden", PasswdFrom: bootstrapv1.PasswdSource{Secret: bootstrapv1.SecretPasswdSource{Name: "s", Key: "k"}}}}
		}, []string{`spec.kubeadmConfigSpec.users[0]: Invalid value: only one of passwd or passwdFrom may be specified for a single user`}},
		"timeouts that differ": {func(s *c) { s.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = ptr.To[int32](5) }, []string{
			`spec.kubeadmConfigSpec.initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid value: "5": controlPlaneComponentHealthCheckSeconds must be set to the same value both in initConfiguration.timeouts (5) and in joinConfiguration.timeouts (unset)`,
			`spec.kubeadmConfigSpec.joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid value: "unset": controlPlaneComponentHealthCheckSeconds must be set to the same value both in initConfiguration.timeouts (5) and in joinConfiguration.timeouts (unset)`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, config(test.change), test.want)
			for _, message := range test.want {
				NewWithT(t).Expect(message).NotTo(ContainSubstring("hidden"))
			}
		})
	}
}

func TestValidateTemplate(t *testing.T) {
	g := NewWithT(t)
	template := &controlplanev1.FooControlPlaneTemplate{}
	g.Expect(ValidateTemplate(template)).To(BeEmpty())
	resource := &template.Spec.Template
	resource.ObjectMeta.Labels = map[string]string{"-": ""}
	resource.Spec.MachineNaming.Template = "x"
	resource.Spec.Rollout.Before.CertificatesExpiryDays = 365
	resource.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "stable"
	var fields []string
	for _, err := range ValidateTemplate(template) {
		fields = append(fields, err.Field)
	}
	g.Expect(fields).To(ConsistOf(
		"spec.template.metadata.labels",
		"spec.template.spec.machineNaming.template",
		"spec.template.spec.rollout.before.certificatesExpiryDays",
		"spec.template.spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag",
	))

	resource.Spec = controlplanev1.FooControlPlaneTemplateResourceSpec{}
	resource.Spec.Rollout.Strategy = controlplanev1.FooControlPlaneRolloutStrategy{
		Type:          controlplanev1.RollingUpdateStrategyType,
		RollingUpdate: controlplanev1.FooControlPlaneRolloutStrategyRollingUpdate{MaxSurge: ptr.To(intstr.FromInt32(0))},
	}
	resource.ObjectMeta.Labels = nil
	g.Expect(ValidateTemplate(template)).To(BeEmpty(), "how many replicas there are is not known here")
}

// What a template may not hold is refused without being executed: most of these would take minutes, or all memory.
func TestMachineNameIsNoProgram(t *testing.T) {
	for name, part := range map[string]string{
		"a loop":               "{{ range 9999999999 }}xxxxxxxx{{ end }}",
		"a loop of nothing":    "{{ range 9223372036854775807 }}{{ end }}",
		"a loop in a branch":   "{{ if true }}{{ range 9999999999 }}x{{ end }}{{ end }}",
		"a loop in a with":     "{{ with 1 }}{{ range 9999999999 }}x{{ end }}{{ end }}",
		"a function":           `{{ printf "%999999999s" .random }}`,
		"a function in a pipe": `{{ .random | printf "%999999999s" }}`,
		"a recursion":          `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
		"a block":              `{{ block "b" . }}{{ range 9999999999 }}x{{ end }}{{ end }}`,
		"a variable":           "{{ $x := .random }}",
		"all values":           "{{ . }}",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said := make(chan error, 1)
			go func() {
				_, err := MachineName(part+"-{{ .random }}", Names{Cluster: "c", ControlPlane: "cp", Random: "abcde"})
				said <- err
			}()
			g.Eventually(said).WithTimeout(5 * time.Second).Should(Receive(MatchError(
				HavePrefix("may use only .cluster.name, .fooControlPlane.name and .random: {{"))))
		})
	}
}

func TestMachineNameByDefinitions(t *testing.T) {
	g := NewWithT(t)
	names := Names{Cluster: "c", ControlPlane: "cp", Random: "abcde"}
	_, err := MachineName(`{{ define "machineNaming" }}{{ range 9999999999 }}{{ end }}{{ .random }}{{ end }}`, names)
	g.Expect(err).To(MatchError(HavePrefix("may use only")))
	_, err = MachineName(`{{ define "other" }}{{ .random }}{{ end }}`, names)
	g.Expect(err).To(MatchError(HavePrefix(`produces names such as ""`)))
}

func TestMachineName(t *testing.T) {
	g := NewWithT(t)
	name, err := MachineName("", Names{Cluster: "c", ControlPlane: "cp", Random: "abcde"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(name).To(Equal("cp-abcde"))
	name, err = MachineName("", Names{ControlPlane: strings.Repeat("x", 70), Random: "abcde"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(name).To(Equal(strings.Repeat("x", 58) + "abcde"))
}
