// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// The tests of the webhooks against an API server have objects of v1beta1 and every message.
func TestDefault(t *testing.T) {
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(controlplanev1.AddToScheme(scheme)).To(Succeed())
	for name, test := range map[string]struct {
		spec, want, wrong string
	}{
		"a version without v": {spec: "{version: 1.36.3}", want: "{version: v1.36.3}"},
		"a version with v":    {spec: "{version: v1.36.3}", want: "{version: v1.36.3}"},
		"no version":          {spec: "{replicas: 3}", want: "{replicas: 3}"},
		"a value for schema":  {spec: "{version: [1], replicas: many}", want: "{version: [1], replicas: many}"},
		"a time":              {spec: "{version: v1, rollout: {after: '2026-01-31T15:04:05Z'}}", want: "{version: v1, rollout: {after: '2026-01-31T15:04:05Z'}}"},
		"no time":             {spec: "{rollout: {after: soon}}", wrong: `spec.rollout.after: Invalid value: "soon": must be a time such as 2026-01-31T15:04:05Z`},
		"a token in a list":   {spec: "{kubeadmConfigSpec: {initConfiguration: {bootstrapTokens: [{token: a.b}]}}}", wrong: "spec.kubeadmConfigSpec.initConfiguration.bootstrapTokens[0].token: Invalid value: must be six lowercase letters"},
		"a time in a list":    {spec: "{kubeadmConfigSpec: {joinConfiguration: {nodeRegistration: {taints: [{timeAdded: x}]}}}}", wrong: "taints[0].timeAdded: Invalid value: \"x\": must be a time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := &unstructured.Unstructured{}
			g.Expect(yaml.Unmarshal([]byte(`{"spec": `+test.spec+`}`), &object.Object)).To(Succeed())
			object.SetGroupVersionKind(controlplanev1.GroupVersion.WithKind("FooControlPlane"))
			err := defaulter{scheme: scheme, resource: "foocontrolplanes"}.Default(t.Context(), object)
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var want any
			g.Expect(yaml.Unmarshal([]byte(test.want), &want)).To(Succeed())
			g.Expect(object.Object["spec"]).To(Equal(want))
		})
	}
}
