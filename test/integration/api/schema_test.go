// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api checks that schemas and Go types of all kinds follow the conventions of Kubernetes and
// Cluster API, that every field is documented, and that the CRDs are small enough for kubectl apply.
//
// Limits: the rules are the ones that Cluster API selects from kube-api-linter, as far as schemas
// and Go files show them. v1beta1 follows the earlier types of Cluster API, which break most of
// these rules, so only some apply to it.
package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"sigs.k8s.io/yaml"
)

type schema = apiextensionsv1.JSONSchemaProps

// field is a field of a kind, with the path that kubectl explain takes.
type field struct {
	path, name string
	schema     schema
	required   bool
}

// crds are all CRDs by kind.
func crds(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	g := NewWithT(t)
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "crd", "*", "bases", "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).NotTo(BeEmpty())
	result := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(yaml.UnmarshalStrict(content, crd)).To(Succeed())
		result[crd.Spec.Names.Kind] = crd
	}
	return result
}

// fields returns all fields below a schema, including fields of list items.
func fields(path string, of schema) []field {
	var result []field
	for name, child := range of.Properties {
		one := field{path: strings.TrimPrefix(path+"."+name, "."), name: name, schema: child, required: slices.Contains(of.Required, name)}
		result = append(append(result, one), fields(one.path, child)...)
	}
	if of.Items != nil && of.Items.Schema != nil {
		result = append(result, fields(path, *of.Items.Schema)...)
	}
	return result
}

// standard are the fields that all kinds of Kubernetes have.
func (f field) standard() bool {
	return f.path == "apiVersion" || f.path == "kind" || f.path == "metadata"
}

// foreign fields have schemas that Foo does not own: Cluster API's for kubeadm's configuration, and
// Kubernetes' for selectors.
func (f field) foreign() bool {
	return strings.Contains(f.path, "kubeadmConfigSpec.") || strings.Contains(f.path, "allowedNamespaces.selector.")
}

// eachField runs a check on all fields of the chosen versions and reports failures by path.
func eachField(t *testing.T, chosen func(version string) bool, check func(f field) string) {
	t.Helper()
	for kind, crd := range crds(t) {
		for _, version := range crd.Spec.Versions {
			if !chosen(version.Name) {
				continue
			}
			for _, f := range fields("", *version.Schema.OpenAPIV3Schema) {
				if problem := check(f); problem != "" {
					t.Errorf("%s %s: %s %s", kind, version.Name, f.path, problem)
				}
			}
		}
	}
}

func all(string) bool                 { return true }
func hub(version string) bool         { return version == "v1beta2" }
func (f field) described() bool       { return strings.TrimSpace(f.schema.Description) != "" }
func isMap(one schema) bool           { return one.AdditionalProperties != nil }
func (f field) under(end string) bool { return strings.HasSuffix(f.path, end) }

// The description is all that kubectl explain shows of a field.
func TestEveryFieldIsDescribed(t *testing.T) {
	eachField(t, all, func(f field) string {
		if !f.described() && f.path != "metadata" {
			return "has no description"
		}
		return ""
	})
	for kind, crd := range crds(t) {
		for _, version := range crd.Spec.Versions {
			NewWithT(t).Expect(version.Schema.OpenAPIV3Schema.Description).NotTo(BeEmpty(), "%s %s", kind, version.Name)
			for _, column := range version.AdditionalPrinterColumns {
				NewWithT(t).Expect(column.Description).NotTo(BeEmpty(), "column %s of %s %s", column.Name, kind, version.Name)
			}
		}
	}
}

// A description starts with the name that users write, so that it reads the same in the docs and in
// the manifest.
func TestDescriptionsBeginWithTheName(t *testing.T) {
	eachField(t, hub, func(f field) string {
		if f.standard() || f.foreign() || strings.HasPrefix(f.schema.Description, f.name+" ") {
			return ""
		}
		return "has a description that does not begin with its name: " + f.schema.Description
	})
}

// cert-manager writes a whole CRD to add its authority. Old versions, such as v1.11.5, remove what
// they do not know.
func TestOldCertManagersKeepRules(t *testing.T) {
	eachField(t, all, func(f field) string {
		for _, rule := range f.schema.XValidations {
			if rule != (apiextensionsv1.ValidationRule{Rule: rule.Rule, Message: rule.Message}) {
				return "has a rule with more than an expression and a message: " + rule.Message
			}
		}
		return ""
	})
}

// Without a bound, one object could fill etcd, and the cost of CEL rules could not be estimated.
func TestEverythingIsBounded(t *testing.T) {
	eachField(t, hub, func(f field) string {
		one := f.schema
		switch {
		case f.standard() || f.foreign():
		case one.Type == "string" && one.MaxLength == nil && len(one.Enum) == 0 && one.Format != "date-time":
			return "is a string without maxLength"
		case one.Type == "array" && one.MaxItems == nil:
			return "is a list without maxItems"
		case one.Type == "array" && one.Items.Schema.Type == "string" && one.Items.Schema.MaxLength == nil && len(one.Items.Schema.Enum) == 0:
			return "is a list of strings without maxLength"
		}
		return ""
	})
}

// Server-side apply merges lists by their listType and keys.
func TestListsHaveAType(t *testing.T) {
	eachField(t, hub, func(f field) string {
		one := f.schema
		switch {
		case one.Type != "array" || f.under("nodeRegistration.taints"): // Cluster API has no type for these
			return ""
		case one.XListType == nil:
			return "is a list without listType"
		case *one.XListType != "map":
			return ""
		case len(one.XListMapKeys) == 0:
			return "is a map list without keys"
		}
		for _, key := range one.XListMapKeys {
			if !slices.Contains(one.Items.Schema.Required, key) && one.Items.Schema.Properties[key].Default == nil {
				return "has the key " + key + ", which is optional in items"
			}
		}
		return ""
	})
}

// nothingIsValid lists the fields where an empty object is meaningful: it selects the defaults.
var nothingIsValid = []string{
	"spec", "spec.template.spec",
	// A selector without requirements selects all.
	"spec.allowedNamespaces.selector",
}

// An empty object and an absent one would mean the same, yet server-side apply distinguishes them.
func TestNoEmptyObjects(t *testing.T) {
	eachField(t, hub, func(f field) string {
		one := f.schema
		if one.Type != "object" || isMap(one) || f.standard() || f.foreign() || slices.Contains(nothingIsValid, f.path) {
			return ""
		}
		if len(one.Required) == 0 && (one.MinProperties == nil || *one.MinProperties < 1) {
			return "may be empty: it needs MinProperties=1 or a required field"
		}
		return ""
	})
}

// maps are the fields that are maps in Kubernetes itself, or in Cluster API or its other providers.
var maps = regexp.MustCompile(`\.(labels|annotations|capacity|allocatable|failureDomains\.attributes|additionalTags)$`)

func TestTypesOfFields(t *testing.T) {
	eachField(t, hub, func(f field) string {
		one := f.schema
		switch {
		case f.foreign():
		case one.Nullable:
			return "is nullable: null and absent would mean the same"
		case one.Type == "number":
			return "is a floating-point number, which clients may read differently"
		case one.Type == "integer" && one.Format != "int32" && one.Format != "int64":
			return "is an integer without a size"
		case isMap(one) && !maps.MatchString(f.path):
			return "is a map: use a list with a name in each item, which can gain fields"
		case one.Default != nil && f.path != "spec.replicas":
			return "has a default in the schema, which hides what the user asked for"
		case strings.HasSuffix(strings.ToLower(f.name), "phase"):
			return "is a phase: use conditions, which can be extended"
		case strings.HasSuffix(f.name, "Timestamp"), strings.HasSuffix(f.name, "Duration"):
			return "is named after its type: end the name in Time or Seconds"
		}
		return ""
	})
}

// booleans lists the fields that are booleans because a contract or their meaning asks for it.
// Others should be enums, which can gain a third value.
var booleans = []string{
	"status.initialization.provisioned", "status.initialization.controlPlaneInitialized", "status.ready", "status.instances.ready",
	"status.failureDomains.controlPlane", "spec.strategy.rolloutPaused", "spec.template.spec.strategy.rolloutPaused",
	// These correspond to booleans in Cluster API's contract.
	"spec.zones.controlPlane", "spec.template.spec.zones.controlPlane",
	"status.interruptible", "spec.interruptible", "spec.template.interruptible", "spec.template.spec.interruptible",
	"spec.template.spec.template.interruptible",
}

func TestBooleansAreFew(t *testing.T) {
	eachField(t, hub, func(f field) string {
		if f.schema.Type == "boolean" && !f.foreign() && !slices.Contains(booleans, f.path) {
			return "is a boolean"
		}
		return ""
	})
}

func TestStatusIsASubresource(t *testing.T) {
	for kind, crd := range crds(t) {
		for _, version := range crd.Spec.Versions {
			g := NewWithT(t)
			status, found := version.Schema.OpenAPIV3Schema.Properties["status"]
			if !found {
				continue
			}
			g.Expect(version.Subresources).NotTo(BeNil(), kind)
			g.Expect(version.Subresources.Status).NotTo(BeNil(), kind)
			g.Expect(version.Schema.OpenAPIV3Schema.Required).NotTo(ContainElement("status"), kind)
			if hub(version.Name) {
				g.Expect(status.Required).To(BeEmpty(), "the status of %s may be unknown", kind)
			}
		}
	}
}

// kubectl apply writes the whole object into an annotation, and annotations are limited to 256 KiB
// in total. A larger CRD can only be installed by server-side apply, which not all tools use.
func TestCRDsCanBeApplied(t *testing.T) {
	for kind, crd := range crds(t) {
		content, err := json.Marshal(crd)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(content)).To(BeNumerically("<", validation.TotalAnnotationSizeLimitB), "%s has %d bytes", kind, len(content))
	}
}

// longestRule keeps CEL rules short. Longer checks belong in a webhook.
const longestRule = 400

func TestRulesAreShortAndSayWhy(t *testing.T) {
	eachField(t, hub, func(f field) string {
		for _, rule := range f.schema.XValidations {
			if f.foreign() {
				continue
			}
			if rule.Message == "" && rule.MessageExpression == "" {
				return "has a rule without a message: " + rule.Rule
			}
			if !strings.Contains(rule.Message, "see kubectl explain ") {
				return "has a rule whose message does not point to kubectl explain: " + rule.Message
			}
			if len(rule.Rule) > longestRule {
				return "has a rule that is too long, move it to a webhook: " + rule.Rule
			}
		}
		return ""
	})
}
