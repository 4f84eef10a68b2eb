// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"

	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"

	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
)

func discovered(t testing.TB, request *runtimehooksv1.DiscoverVariablesRequest) *runtimehooksv1.DiscoverVariablesResponse {
	t.Helper()
	response := &runtimehooksv1.DiscoverVariablesResponse{}
	topology.DiscoverVariables(t.Context(), request, response)
	return response
}

// The test compares with the class that the release publishes, as kustomize builds it.
func TestVariablesAreThoseOfTheInlineClass(t *testing.T) {
	g := NewWithT(t)
	inline, external := both(t)
	response := discovered(t, &runtimehooksv1.DiscoverVariablesRequest{})
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
	g.Expect(inline.object.Spec.Variables).NotTo(BeEmpty())
	g.Expect(jsonOf(response.Variables)).To(MatchJSON(jsonOf(inline.object.Spec.Variables)))
	g.Expect(external.object.Spec.Variables).To(BeEmpty(), "no variable is defined twice")
	for _, variable := range response.Variables {
		g.Expect(variable.Schema.OpenAPIV3Schema.Description).NotTo(BeEmpty(), variable.Name)
		g.Expect(variable.Schema.OpenAPIV3Schema.Default).NotTo(BeNil(), variable.Name)
	}
}

// Everything else in the two classes is equal: their parts, the names, and the health checks.
func TestTheClassesDifferInNothingElse(t *testing.T) {
	g := NewWithT(t)
	inline, external := both(t)
	for _, one := range []*class{inline, external} {
		spec := &one.object.Spec
		spec.Patches, spec.Variables, spec.KubernetesVersions, spec.Upgrade = nil, nil, nil, clusterv1.ClusterClassUpgrade{}
		spec.Infrastructure.TemplateRef.Name, spec.ControlPlane.TemplateRef.Name, spec.ControlPlane.MachineInfrastructure.TemplateRef.Name = "", "", ""
		for i := range spec.Workers.MachineDeployments {
			workers := &spec.Workers.MachineDeployments[i]
			workers.Bootstrap.TemplateRef.Name, workers.Infrastructure.TemplateRef.Name = "", ""
		}
		for i := range spec.Workers.MachinePools {
			workers := &spec.Workers.MachinePools[i]
			workers.Bootstrap.TemplateRef.Name, workers.Infrastructure.TemplateRef.Name = "", ""
		}
	}
	g.Expect(external.object.Spec).To(Equal(inline.object.Spec))
}

// Cluster API's own webhook validates the classes, and the extension's variables as if they were
// inline.
func TestTheClassesAreAdmitted(t *testing.T) {
	inline, external := both(t)
	discovering := external.object.DeepCopy()
	discovering.Spec.Variables = discovered(t, &runtimehooksv1.DiscoverVariablesRequest{}).Variables
	for name, object := range map[string]*clusterv1.ClusterClass{"inline": inline.object, "external": external.object, "discovered": discovering} {
		t.Run(name, func(t *testing.T) {
			_, err := (&admission.ClusterClass{}).ValidateCreate(t.Context(), object)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestVariablesDoNotDependOnSettings(t *testing.T) {
	g := NewWithT(t)
	request := &runtimehooksv1.DiscoverVariablesRequest{}
	want := jsonOf(discovered(t, request))
	request.SetSettings(map[string]string{"instanceTypes": "", "ofAnotherHook": "?"})
	g.Expect(jsonOf(discovered(t, request))).To(Equal(want))
}

func TestAResponseIsNotShared(t *testing.T) {
	g := NewWithT(t)
	var first, second runtimehooksv1.DiscoverVariablesResponse
	topology.DiscoverVariables(t.Context(), nil, &first)
	first.Variables[0].Schema.OpenAPIV3Schema.Default.Raw[0] = '!'
	topology.DiscoverVariables(t.Context(), nil, &second)
	g.Expect(jsonOf(second)).NotTo(ContainSubstring("!"))
}
