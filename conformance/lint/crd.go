// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// crdScope is a CRD in one version of a contract. version is the version of the API that Cluster
// API uses with the contract.
type crdScope struct {
	release  *Release
	rule     conformance.Rule
	crd      *CRD
	contract string
	version  *apiextensionsv1.CustomResourceDefinitionVersion
}

func (s crdScope) schema() *apiextensionsv1.JSONSchemaProps {
	if s.version.Schema == nil || s.version.Schema.OpenAPIV3Schema == nil {
		return &apiextensionsv1.JSONSchemaProps{}
	}
	return s.version.Schema.OpenAPIV3Schema
}

func (s crdScope) has(path string) bool {
	found, _ := lookup(s.schema(), path)
	return found != nil
}

// crdChecks return what is wrong with a CRD.
var crdChecks = map[string]func(crdScope) []string{
	"fields":            checkFields,
	"fieldsOfVersion":   checkFields,
	"scope":             checkScope,
	"apiGroup":          checkAPIGroup,
	"contractLabel":     checkContractLabel,
	"contractVersions":  checkContractVersions,
	"contractMetadata":  checkContractMetadata,
	"resourceName":      checkResourceName,
	"listKind":          checkListKind,
	"statusSubresource": checkStatusSubresource,
	"storageVersion":    checkStorageVersion,
	"conversion":        checkConversion,
	"category":          checkCategory,
	"scale":             checkScale,
	"template":          checkTemplate,
	"templateName":      checkTemplateName,
	"templateFields":    checkTemplateFields,
	"ssaDryRun":         checkSSADryRun,
	"poolMachineKind":   checkPoolMachineKind,
}

// judgeable say which CRDs a check is about and can judge, unless that is all of its contract.
var judgeable = map[string]func(crdScope) bool{
	// CRDs alone come without roles.
	"apiGroup": func(s crdScope) bool {
		return slices.Contains(managerGroups, s.crd.Spec.Group) || s.release.Cluster || s.release.installable() || len(s.release.objects("ClusterRole")) > 0
	},
	"contractVersions": func(s crdScope) bool { return s.crd.Labels[contractPrefix+s.contract] != "" },
	"contractMetadata": func(s crdScope) bool {
		series := s.release.current()
		return s.crd.labelled() && series != nil && slices.Contains(conformance.Versions, series.Contract)
	},
	// Otherwise the label names a version that does not exist, which contract-versions reports.
	"fieldsOfVersion": func(s crdScope) bool {
		return s.crd.Labels[contractPrefix+s.contract] != "" && s.crd.version(s.crd.apiVersion(s.contract)) != nil
	},
	"template":       func(s crdScope) bool { return !s.crd.ofPool() },
	"templateFields": func(s crdScope) bool { _, ok := s.kind(); return ok },
}

func checkScope(s crdScope) []string {
	if s.crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		return nil
	}
	return []string{fmt.Sprintf("spec.scope is %q, want %q", s.crd.Spec.Scope, apiextensionsv1.NamespaceScoped)}
}

// managerGroups are the groups that the roles of Cluster API's managers allow.
var managerGroups = []string{"infrastructure.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"}

func checkAPIGroup(s crdScope) []string {
	group, resource := s.crd.Spec.Group, s.crd.Spec.Names.Plural
	if slices.Contains(managerGroups, group) {
		return nil
	}
	missing := neededVerbs(s)
	for _, role := range s.release.objects("ClusterRole") {
		if role.GetLabels()["cluster.x-k8s.io/aggregate-to-manager"] != "true" {
			continue
		}
		for _, rule := range role.objects("rules") {
			if allows(rule, "apiGroups", group) && allows(rule, "resources", resource) {
				maps.DeleteFunc(missing, func(verb string, _ bool) bool { return allows(rule, "verbs", verb) })
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("no ClusterRole with the label cluster.x-k8s.io/aggregate-to-manager: \"true\" allows to %s %s.%s",
		strings.Join(slices.Sorted(maps.Keys(missing)), ", "), resource, group)}
}

// neededVerbs are what Cluster API's managers do with a kind.
func neededVerbs(s crdScope) map[string]bool {
	needed := map[string]bool{"get": true, "list": true, "patch": true, "update": true, "watch": true}
	// The topology controller only reads these templates of a ClusterClass.
	if read := s.crd.Template && (s.rule.Contract == cluster || s.rule.Contract == controlPlane); !read {
		needed["create"], needed["delete"] = true, true
	}
	if s.crd.ofPool() {
		delete(needed, "create")
	}
	return needed
}

func allows(rule map[string]any, field, value string) bool {
	values, _ := rule[field].([]any)
	return slices.Contains(values, any(value)) || slices.Contains(values, any("*"))
}

func checkContractLabel(s crdScope) []string {
	if s.crd.labelled() {
		return nil
	}
	return []string{fmt.Sprintf("has no label of a contract; want for example %s%s: %s", contractPrefix, s.contract, s.version.Name)}
}

var versionName = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)

func checkContractVersions(s crdScope) []string {
	value := s.crd.Labels[contractPrefix+s.contract]
	var messages []string
	used := s.crd.apiVersion(s.contract)
	for _, name := range strings.Split(value, "_") {
		version := s.crd.version(name)
		switch {
		case !versionName.MatchString(name):
			messages = append(messages, fmt.Sprintf("label %s%s is %q, want versions joined by _", contractPrefix, s.contract, value))
		case version == nil:
			messages = append(messages, fmt.Sprintf("label %s%s names version %s, which spec.versions does not have", contractPrefix, s.contract, name))
		case !version.Served && name == used:
			messages = append(messages, fmt.Sprintf("label %s%s names version %s, which is not served", contractPrefix, s.contract, name))
		}
	}
	return messages
}

func checkContractMetadata(s crdScope) []string {
	series := s.release.current()
	if s.crd.Labels[contractPrefix+series.Contract] != "" {
		return nil
	}
	return []string{fmt.Sprintf("metadata.yaml says that %d.%d has the contract %s, but there is no label %s%s",
		series.Major, series.Minor, series.Contract, contractPrefix, series.Contract)}
}

func checkResourceName(s crdScope) []string {
	want := strings.ToLower(flect.Pluralize(s.crd.kind())) + "." + s.crd.Spec.Group
	if s.crd.Name == want {
		return nil
	}
	return []string{fmt.Sprintf("is named %s, and Cluster API looks for %s", s.crd.Name, want)}
}

func checkListKind(s crdScope) []string {
	want := s.crd.kind() + "List"
	if s.crd.Spec.Names.ListKind == want || s.crd.Spec.Names.ListKind == "" { // the API server sets this default
		return nil
	}
	return []string{fmt.Sprintf("spec.names.listKind is %q, want %q", s.crd.Spec.Names.ListKind, want)}
}

func checkStatusSubresource(s crdScope) []string {
	if s.version.Subresources != nil && s.version.Subresources.Status != nil {
		return nil
	}
	return []string{fmt.Sprintf("version %s has no status subresource", s.version.Name)}
}

func checkStorageVersion(s crdScope) []string {
	var names []string
	for _, version := range s.crd.Spec.Versions {
		if version.Storage {
			names = append(names, version.Name)
		}
	}
	if len(names) == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%d versions are the storage version, want 1", len(names))}
}

func checkConversion(s crdScope) []string {
	var served []string
	same := true
	for _, version := range s.crd.Spec.Versions {
		if version.Served {
			served = append(served, version.Name)
			same = same && sameFields(version.Schema, s.version.Schema)
		}
	}
	webhook := s.crd.Spec.Conversion != nil && s.crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
	if len(served) < 2 || webhook || same {
		return nil
	}
	return []string{fmt.Sprintf("serves %s with different fields and without a conversion webhook", strings.Join(served, ", "))}
}

func sameFields(a, b *apiextensionsv1.CustomResourceValidation) bool {
	if a == nil || b == nil || a.OpenAPIV3Schema == nil || b.OpenAPIV3Schema == nil {
		return a == b
	}
	one, other := map[string]string{}, map[string]string{}
	fields(a.OpenAPIV3Schema, "", one)
	fields(b.OpenAPIV3Schema, "", other)
	return maps.Equal(one, other)
}

func checkCategory(s crdScope) []string {
	if slices.Contains(s.crd.Spec.Names.Categories, "cluster-api") {
		return nil
	}
	return []string{"spec.names.categories does not have cluster-api"}
}

func checkScale(s crdScope) []string {
	if s.version.Subresources == nil || s.version.Subresources.Scale == nil {
		return []string{fmt.Sprintf("version %s has no scale subresource", s.version.Name)}
	}
	scale := s.version.Subresources.Scale
	var messages []string
	for _, path := range []struct{ name, value, want string }{
		{"specReplicasPath", scale.SpecReplicasPath, ".spec.replicas"},
		{"statusReplicasPath", scale.StatusReplicasPath, ".status.replicas"},
		{"labelSelectorPath", deref(scale.LabelSelectorPath), ".status.selector"},
	} {
		if path.value != path.want {
			messages = append(messages, fmt.Sprintf("the scale subresource of %s has the %s %q, want %q", s.version.Name, path.name, path.value, path.want))
		}
	}
	return messages
}

func deref(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func checkTemplate(s crdScope) []string {
	if s.release.find(s.crd.Spec.Group, s.crd.kind()+"Template") != nil {
		return nil
	}
	return []string{fmt.Sprintf("there is no CRD for %sTemplate", s.crd.kind())}
}

func checkTemplateName(s crdScope) []string {
	if s.release.kindOf(s.crd) != nil {
		return nil
	}
	return []string{fmt.Sprintf("is the template of %s, which has no CRD in the same group", strings.TrimSuffix(s.crd.kind(), "Template"))}
}

// kindOf returns the CRD of a template's kind, or nil.
func (r *Release) kindOf(template *CRD) *CRD {
	return r.find(template.Spec.Group, strings.TrimSuffix(template.kind(), "Template"))
}

// kind returns a template's kind in the same version of the contract, if it has that version.
func (s crdScope) kind() (crdScope, bool) {
	crd := s.release.kindOf(s.crd)
	if crd == nil {
		return crdScope{}, false
	}
	return s.release.in(crd, s.contract)
}

func checkTemplateFields(s crdScope) []string {
	scope, ok := s.kind()
	if !ok {
		return nil
	}
	template, _ := lookup(s.schema(), "spec.template.spec")
	spec, _ := lookup(scope.schema(), "spec")
	if template == nil || spec == nil || template.Type != spec.Type { // template-spec reports it
		return nil
	}
	return differences(template, spec, "spec.template.spec")
}

// checkSSADryRun looks for rules that make the template immutable for everybody: a rule of a schema
// cannot exempt the dry run of the topology controller.
func checkSSADryRun(s crdScope) []string {
	spec, ok := s.schema().Properties["spec"]
	if !ok {
		return nil
	}
	var messages []string
	report := func(path string, rule apiextensionsv1.ValidationRule) {
		messages = append(messages, fmt.Sprintf("%s of version %s is immutable by the rule %q, also in a dry run", path, s.version.Name, strings.TrimSpace(rule.Rule)))
	}
	for _, rule := range spec.XValidations {
		if field, immutable := immutableBy(rule.Rule); immutable && (field == "" || field == "template" || strings.HasPrefix(field, "template.")) {
			report("spec", rule)
		}
	}
	template := spec.Properties["template"]
	visit(&template, "spec.template", func(path string, schema *openAPI) {
		for _, rule := range schema.XValidations {
			if _, immutable := immutableBy(rule.Rule); immutable {
				report(path, rule)
			}
		}
	})
	return messages
}

// immutableBy reports whether a rule forbids each change of a field, and which one: empty is the field
// that has the rule.
func immutableBy(rule string) (field string, immutable bool) {
	one, other, ok := strings.Cut(rule, "==")
	one, other = strings.TrimSpace(one), strings.TrimSpace(other)
	if strings.HasPrefix(one, "oldSelf") {
		one, other = other, one
	}
	field, found := strings.CutPrefix(one, "self")
	return strings.TrimPrefix(field, "."), ok && found && other == "oldSelf"+field
}

func checkPoolMachineKind(s crdScope) []string {
	for _, crd := range s.release.definitions {
		if crd.Spec.Group == s.crd.Spec.Group && strings.HasSuffix(crd.kind(), "Machine") && crd.version(s.version.Name) != nil {
			return nil
		}
	}
	return []string{fmt.Sprintf("no kind of machine has the API version %s/%s", s.crd.Spec.Group, s.version.Name)}
}
