// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// Group of the kinds.
	Group   = "mutant.example.com"
	version = "v1"
)

// The kinds.
const (
	Cluster      = "MutantCluster"
	Machine      = "MutantMachine"
	MachinePool  = "MutantMachinePool"
	ControlPlane = "MutantControlPlane"
	Config       = "MutantConfig"
)

// What other kinds have before or after these names. Rigid, RigidTemplate and Unscaled are violations
// that only a CustomResourceDefinition can commit.
const (
	// Loud kinds refuse dry runs, see Policy.
	Loud          = "Loud"
	Template      = "Template"
	RigidTemplate = "RigidTemplate"
	Unscaled      = "Unscaled"
	Rigid         = "Rigid"
)

// CRDs returns the definitions of all kinds. Both versions of the contract use the same version of a
// kind: the schemas allow everything.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, kind := range []string{Cluster, Machine, MachinePool, ControlPlane, Config} {
		loud := define(Loud + kind)
		rigid := define(kind + RigidTemplate)
		template := rigid.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		template.Properties = map[string]apiextensionsv1.JSONSchemaProps{"template": {
			Type: "object", XPreserveUnknownFields: ptr.To(true),
			XValidations: apiextensionsv1.ValidationRules{{Rule: "self == oldSelf", Message: "a template cannot change"}},
		}}
		rigid.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = template
		all = append(all, define(kind), loud, define(kind+Template), rigid)
	}
	for _, crd := range all {
		if strings.HasSuffix(crd.Spec.Names.Kind, ControlPlane) {
			crd.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ptr.To(".status.selector"),
			}
		}
	}
	return append(all, define(Unscaled+ControlPlane), defineRigid(Machine), defineRigid(Config))
}

// defineRigid returns a kind whose objects cannot change what users set.
func defineRigid(kind string) *apiextensionsv1.CustomResourceDefinition {
	rigid := define(Rigid + kind)
	spec := rigid.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties = map[string]apiextensionsv1.JSONSchemaProps{"knob": {
		Type: "string", XValidations: apiextensionsv1.ValidationRules{{Rule: "self == oldSelf", Message: "the knob cannot change"}},
	}}
	rigid.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	return rigid
}

func define(kind string) *apiextensionsv1.CustomResourceDefinition {
	plural := strings.ToLower(kind) + "s"
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name: plural + "." + Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta1": version, "cluster.x-k8s.io/v1beta2": version},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: strings.ToLower(kind)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": anything, "status": anything},
				}},
			}},
		},
	}
}

// Policy makes the API server refuse dry runs for the kinds with the prefix Loud, as webhooks do that
// do not know dry runs.
const Policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: mutant-refuses-dry-runs}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [mutant.example.com]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [loudmutantclusters, loudmutantmachines, loudmutantmachinepools, loudmutantcontrolplanes, loudmutantconfigs]
  validations:
  - {expression: "!has(request.dryRun) || !request.dryRun", message: a dry run is not supported}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: mutant-refuses-dry-runs}
spec: {policyName: mutant-refuses-dry-runs, validationActions: [Deny]}
`
