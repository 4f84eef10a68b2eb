// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/hack/flavors"
)

const (
	introduction = `<!-- Written by make generate: change templates/ instead. -->
# Cluster templates

A release publishes these flavors of a cluster. clusterctl renders one and replaces its variables, which it takes from flags, from
the environment and from its configuration:

    clusterctl generate cluster demo --infrastructure foo --flavor ha --kubernetes-version v1.36.3 | kubectl apply -f -
    clusterctl generate cluster demo --infrastructure foo --flavor ha --list-variables

Variables without a default must be given. The default flavor is what clusterctl takes without ` + "`--flavor`" + `.
`
	aboutClasses = `
# ClusterClasses

clusterctl adds the ClusterClass of a flavor with a topology, unless the namespace has it. The variables of a class are set in
` + "`spec.topology.variables`" + ` of a Cluster.
`
)

// render returns the document.
func render(doc document) []byte {
	var out bytes.Buffer
	out.WriteString(introduction)
	for _, one := range doc.flavors {
		name := one.name
		if name == flavors.Default {
			name = "The default"
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n", name, prose(one.purpose))
		writeTable(&out, []string{"variable", "default", "meaning", "allowed"}, flavorRows(one))
	}
	out.WriteString(aboutClasses)
	for _, one := range doc.classes {
		writeClass(&out, one)
	}
	return out.Bytes()
}

// writeClass omits what the runtime extension defines for a class, and names the handler that
// defines it.
func writeClass(out *bytes.Buffer, one class) {
	fmt.Fprintf(out, "\n## ClusterClass %s\n\n%s\n", one.name, prose(one.purpose))
	spec := one.object.Spec
	if len(spec.KubernetesVersions) > 0 {
		fmt.Fprintf(out, "\nKubernetes versions, in the order of an upgrade: %s.\n", strings.Join(spec.KubernetesVersions, ", "))
	}
	if handler := spec.Upgrade.External.GenerateUpgradePlanExtension; handler != "" {
		fmt.Fprintf(out, "\nThe handler %s of the runtime extension plans upgrades.\n", code(handler))
	}
	for _, patch := range spec.Patches {
		if patch.External == nil {
			continue
		}
		fmt.Fprintf(out, "\nThe handler %s of the runtime extension lists the variables, %s sets them in the templates, and %s checks the "+
			"outcome.\n", code(patch.External.DiscoverVariablesExtension), code(patch.External.GeneratePatchesExtension),
			code(patch.External.ValidateTopologyExtension))
	}
	if len(spec.Variables) > 0 {
		out.WriteString("\n")
		writeTable(out, []string{"variable", "default", "meaning", "allowed"}, classRows(one.object))
	}
}

func flavorRows(one flavor) [][]string {
	rows := make([][]string, 0, len(one.variables))
	for _, variable := range one.variables {
		fallback := ""
		if variable.fallback != nil {
			fallback = code(*variable.fallback)
		}
		rows = append(rows, []string{code(variable.Name), fallback, variable.Meaning, variable.Allowed})
	}
	return rows
}

// classRows returns a row for each variable of a class, and one for each field of a variable that
// is an object.
func classRows(class clusterv1.ClusterClass) [][]string {
	rows := make([][]string, 0, len(class.Spec.Variables))
	for _, variable := range class.Spec.Variables {
		rows = append(rows, schemaRows(variable.Name, variable.Schema.OpenAPIV3Schema)...)
	}
	return rows
}

func schemaRows(name string, schema clusterv1.JSONSchemaProps) [][]string {
	fallback := ""
	if schema.Default != nil {
		fallback = code(string(schema.Default.Raw))
	}
	rows := [][]string{{code(name), fallback, prose(schema.Description), allowed(schema)}}
	for _, field := range sortedNames(schema.Properties) {
		rows = append(rows, schemaRows(name+"."+field, schema.Properties[field])...)
	}
	if schema.Items != nil {
		for _, field := range sortedNames(schema.Items.Properties) {
			rows = append(rows, schemaRows(name+"[]."+field, schema.Items.Properties[field])...)
		}
	}
	return rows
}

func sortedNames(properties map[string]clusterv1.JSONSchemaProps) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// allowed describes in words what a schema allows.
func allowed(schema clusterv1.JSONSchemaProps) string {
	if len(schema.Enum) > 0 {
		values := make([]string, 0, len(schema.Enum))
		for _, value := range schema.Enum {
			values = append(values, code(plain(value.Raw)))
		}
		return strings.Join(values, ", ")
	}
	said := schema.Type
	if schema.XIntOrString != nil && *schema.XIntOrString {
		said = "integer or string"
	}
	if schema.Items != nil {
		said = "list of " + allowed(*schema.Items)
	}
	if schema.Pattern != "" {
		said += " that matches " + code(schema.Pattern)
	}
	return said + lengths(schema)
}

// lengths describes how long a string or a list may be.
func lengths(schema clusterv1.JSONSchemaProps) string {
	var said string
	if schema.MinLength != nil {
		said += fmt.Sprintf(", length at least %d", *schema.MinLength)
	}
	if schema.MaxLength != nil {
		said += fmt.Sprintf(", length at most %d", *schema.MaxLength)
	}
	if schema.MaxItems != nil {
		said += fmt.Sprintf(", at most %d entries", *schema.MaxItems)
	}
	return said
}

// plain returns a JSON value, without quotes if it is a string.
func plain(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// prose prevents Markdown from reading placeholders as HTML.
func prose(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

func code(text string) string { return "`" + text + "`" }

func writeTable(out *bytes.Buffer, header []string, rows [][]string) {
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		for index, cell := range row {
			row[index] = strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	}
}
