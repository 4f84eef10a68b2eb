// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

func guarded(t *testing.T) (*scope, *clusterv1.Machine) {
	t.Helper()
	g := NewWithT(t)
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 3}}
	controlPlane.Spec.Version = "v1.36.3"
	controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = []string{"a"}
	controlPlane.Annotations = map[string]string{controlplanev1.ConfirmRolloutAnnotation: "earlier"}
	config, err := desiredConfigSpec(controlPlane, roleJoin)
	g.Expect(err).NotTo(HaveOccurred())
	made, err := newMadeFrom(controlPlane)
	g.Expect(err).NotTo(HaveOccurred())
	annotation, err := made.annotation()
	g.Expect(err).NotTo(HaveOccurred())
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Annotations: map[string]string{controlplanev1.MadeFromAnnotation: annotation}}}
	machine.Spec.Version = "v1.36.3"
	s := &scope{
		now: time.Now(), controlPlane: controlPlane, machines: []*clusterv1.Machine{machine},
		configs:       map[string]*bootstrapv1.KubeadmConfig{"m": {Spec: config}},
		infraMachines: map[string]*unstructured.Unstructured{"m": {}},
	}
	return s, machine
}

// reconciled compares a Machine, and reports whether its record had to be updated.
func reconciled(g *WithT, s *scope, machine *clusterv1.Machine) bool {
	g.Expect(s.compare()).To(Succeed())
	written := s.outOfStep(machine)
	if written {
		record(g, machine, func(made *madeFrom) { made.Inputs = s.madeFrom.Inputs })
	}
	g.Expect(s.compare()).To(Succeed())
	g.Expect(s.outOfStep(machine)).To(BeFalse(), "one write is enough")
	return written
}

// record changes the record of a Machine.
func record(g *WithT, machine *clusterv1.Machine, change func(*madeFrom)) {
	made, _ := recorded(machine)
	change(&made)
	annotation, err := made.annotation()
	g.Expect(err).NotTo(HaveOccurred())
	metav1.SetMetaDataAnnotation(&machine.ObjectMeta, controlplanev1.MadeFromAnnotation, annotation)
}

// A difference that comes with a new release is held. Earlier or later changes by the user do not
// matter as long as they do not affect the Machine.
func TestTheRecordFollowsWhatDoesNotConcernTheMachine(t *testing.T) {
	type step struct {
		change  func(*WithT, *scope)
		written bool
	}
	edit := func(written bool, change func(*controlplanev1.FooControlPlaneSpec)) step {
		return step{func(_ *WithT, s *scope) { s.controlPlane.Generation++; change(&s.controlPlane.Spec) }, written}
	}
	names := func(names ...string) func(*controlplanev1.FooControlPlaneSpec) {
		return func(spec *controlplanev1.FooControlPlaneSpec) {
			spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = names
		}
	}
	scaled := edit(false, func(spec *controlplanev1.FooControlPlaneSpec) { spec.Replicas = ptr.To[int32](3) })
	dns := edit(false, func(spec *controlplanev1.FooControlPlaneSpec) {
		spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.12.0"
	})
	joining := edit(false, func(spec *controlplanev1.FooControlPlaneSpec) {
		spec.KubeadmConfigSpec.JoinConfiguration.Discovery.TLSBootstrapToken = "token"
		spec.KubeadmConfigSpec.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = ptr.To[int32](9)
		spec.KubeadmConfigSpec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = ptr.To[int32](9)
	})
	initialOnly := edit(true, func(spec *controlplanev1.FooControlPlaneSpec) {
		spec.KubeadmConfigSpec.InitConfiguration.NodeRegistration.Name = "first"
	})
	wanted, back := edit(false, names("c")), edit(false, names("a"))
	// A release that makes something else from the same spec.
	release := step{func(_ *WithT, s *scope) { s.configs["m"].Spec.ClusterConfiguration.APIServer.CertSANs = []string{"b"} }, false}
	// An earlier release that hashed something else.
	earlier := func(written bool) step {
		return step{func(g *WithT, s *scope) {
			record(g, s.machines[0], func(made *madeFrom) { made.Inputs = "v2-another" })
		}, written}
	}
	moved := step{func(_ *WithT, s *scope) { s.controlPlane.UID, s.controlPlane.Generation = "v", 1 }, false}
	tests := map[string]struct {
		steps []step
		asked bool
	}{
		"DNS changed, then a release":                 {steps: []step{dns, release}},
		"initConfiguration changed, then a release":   {steps: []step{initialOnly, release}},
		"DNS changed while held":                      {steps: []step{release, dns}},
		"join settings changed while held":            {steps: []step{release, joining}},
		"scaled while held":                           {steps: []step{release, scaled}},
		"moved, then a release":                       {steps: []step{moved, release}},
		"moved while held":                            {steps: []step{release, moved, scaled}},
		"record of an earlier release":                {steps: []step{earlier(true), release}},
		"record of an earlier release, held":          {steps: []step{release, earlier(false), scaled}},
		"record of an earlier release, then a change": {steps: []step{earlier(true), wanted}, asked: true},
		"a change that is reverted while held":        {steps: []step{release, wanted, back}},
		"a change while held":                         {steps: []step{release, wanted}, asked: true},
		"DNS changed, then a change":                  {steps: []step{dns, wanted}, asked: true},
		"a change, then scaled":                       {steps: []step{wanted, scaled}, asked: true},
		"a change, then moved":                        {steps: []step{wanted, moved}, asked: true},
		"a change that a new release also brings":     {steps: []step{wanted, release}, asked: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, machine := guarded(t)
			g.Expect(reconciled(g, s, machine)).To(BeFalse(), "the record is current")
			for i, step := range test.steps {
				step.change(g, s)
				g.Expect(reconciled(g, s, machine)).To(Equal(step.written), "step %d", i)
			}
			g.Expect(s.differences["m"]).To(HaveLen(1))
			g.Expect(s.differences["m"][0].Asked).To(Equal(test.asked))
			made, _ := recorded(machine)
			g.Expect(made.Confirmed).To(Equal("earlier"), "the confirmation stays")
		})
	}
}

// A Machine that cannot be compared must not count as up to date, or the user's change would be
// lost.
func TestTheRecordOfWhatIsNotSeenStays(t *testing.T) {
	for name, hide := range map[string]func(*scope){
		"the KubeadmConfig":          func(s *scope) { s.configs = nil },
		"the infrastructure machine": func(s *scope) { s.infraMachines = nil },
		"the version":                func(s *scope) { s.controlPlane.Spec.Version = "nonsense" },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, machine := guarded(t)
			s.controlPlane.Generation++
			s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = []string{"c"}
			hide(s)
			g.Expect(reconciled(g, s, machine)).To(BeFalse())
		})
	}
}

func TestGuard(t *testing.T) {
	otherwise := func(s *scope) { s.configs["m"].Spec.ClusterConfiguration.APIServer.CertSANs = []string{"b"} }
	tests := map[string]struct {
		change func(*scope, *clusterv1.Machine)
		fields []string
		asked  bool
	}{
		"nothing changed":     {change: func(*scope, *clusterv1.Machine) {}},
		"the program changed": {change: func(s *scope, _ *clusterv1.Machine) { otherwise(s) }, fields: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs[0]"}},
		"the replicas changed too": {
			change: func(s *scope, _ *clusterv1.Machine) { otherwise(s); s.controlPlane.Generation = 4 },
			fields: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs[0]"},
		},
		"moved to another management cluster": {
			change: func(s *scope, _ *clusterv1.Machine) {
				otherwise(s)
				s.controlPlane.UID, s.controlPlane.Generation = "v", 1
			},
			fields: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs[0]"},
		},
		"the spec changed": {
			change: func(s *scope, _ *clusterv1.Machine) {
				s.controlPlane.Generation = 4
				s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = []string{"c"}
			},
			fields: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs[0]"}, asked: true,
		},
		"adopted, another version": {
			change: func(s *scope, m *clusterv1.Machine) { m.Annotations, m.Spec.Version = nil, "v1.35.4" },
			fields: []string{fieldVersion}, asked: true,
		},
		"adopted, another configuration": {
			change: func(s *scope, m *clusterv1.Machine) { m.Annotations = nil; otherwise(s) },
			fields: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs[0]"},
		},
		"rollout.after": {
			change: func(s *scope, _ *clusterv1.Machine) {
				s.controlPlane.Spec.Rollout.After = metav1.NewTime(s.now.Add(-time.Minute))
			},
			fields: []string{fieldAfter}, asked: true,
		},
		"rollout.after in the future": {
			change: func(s *scope, _ *clusterv1.Machine) {
				s.controlPlane.Spec.Rollout.After = metav1.NewTime(s.now.Add(time.Minute))
			},
		},
		"certificates expire": {
			change: func(s *scope, m *clusterv1.Machine) {
				s.controlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 10
				m.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation] = s.now.Add(9 * 24 * time.Hour).UTC().Format(time.RFC3339)
			},
			fields: []string{fieldCertificate}, asked: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, machine := guarded(t)
			test.change(s, machine)
			g.Expect(s.compare()).To(Succeed())
			var fields []string
			for _, difference := range s.differences["m"] {
				fields = append(fields, difference.Field)
				g.Expect(difference.Asked).To(Equal(test.asked), difference.Text)
			}
			g.Expect(fields).To(Equal(test.fields))
		})
	}
}

func TestDifferencesShowNoSecrets(t *testing.T) {
	g := NewWithT(t)
	secret := func(value string) bootstrapv1.KubeadmConfigSpec {
		return bootstrapv1.KubeadmConfigSpec{
			Files:              []bootstrapv1.File{{Path: "/etc/a", Owner: value + "-owner", Content: value + "-content"}},
			Users:              []bootstrapv1.User{{Name: "u", Passwd: value + "-passwd"}},
			PreKubeadmCommands: []string{"curl -H " + value + "-token"},
		}
	}
	found, err := compareFields("spec", secret("old"), secret("new"))
	g.Expect(err).NotTo(HaveOccurred())
	encoded, err := json.Marshal(found)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(encoded)).To(And(
		ContainSubstring("spec.files[0].content: (not shown)"), ContainSubstring("spec.users[0].passwd: (not shown)"),
		ContainSubstring("old-owner"), ContainSubstring("new-owner"),
		Not(ContainSubstring("new-content")), Not(ContainSubstring("old-passwd")), Not(ContainSubstring("token"))))
}
