/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

func guarded(t *testing.T) (*scope, *clusterv1.Machine) {
	t.Helper()
	g := NewWithT(t)
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 3}}
	controlPlane.Spec.Version = "v1.36.3"
	controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer.CertSANs = []string{"a"}
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
		configs: map[string]*bootstrapv1.KubeadmConfig{"m": {Spec: config}},
	}
	return s, machine
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
		"rollout.after to come": {
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
