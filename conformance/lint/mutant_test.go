// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

const (
	base       = "testdata/base"
	release    = "infrastructure-demo/v0.1.0"
	components = "infrastructure-components.yaml"
)

// kinds are the kinds of the base.
var kinds = map[string]string{
	"control-plane": "DemoControlPlane", "infrastructure-cluster": "DemoCluster", "infrastructure-machine": "DemoMachine",
	"infrastructure-machinepool": "DemoMachinePool", "bootstrap": "DemoConfig",
}

// mutant is a change of the base that breaks one rule; testdata/mutants.yaml says what it can do.
type mutant struct {
	Rule    string            `json:"rule,omitempty"`
	File    string            `json:"file,omitempty"`
	Object  string            `json:"object,omitempty"`
	Set     map[string]any    `json:"set,omitempty"`
	Replace map[string]string `json:"replace,omitempty"`
	Remove  bool              `json:"remove,omitempty"`
	Empty   bool              `json:"empty,omitempty"`
	Copy    bool              `json:"copy,omitempty"`
	Rename  string            `json:"rename,omitempty"`
	Also    []mutant          `json:"also,omitempty"`

	schema func(map[string]any) // changes the schema of a version
}

func check(t *testing.T, g Gomega, dir string) []conformance.Result {
	releases, err := lint.Load(nil, dir)
	g.Expect(err).NotTo(HaveOccurred())
	report, err := conformance.Check(t.Context(), conformance.Options{
		Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}, Contracts: conformance.Versions,
	})
	g.Expect(err).NotTo(HaveOccurred())
	return report.Results
}

func TestBaseMeetsEveryRule(t *testing.T) {
	for _, result := range check(t, NewWithT(t), base) {
		t.Run(result.Rule, func(t *testing.T) {
			NewWithT(t).Expect(result).To(HaveField("Status", conformance.Passed))
		})
	}
}

func TestEachMutantBreaksItsRuleOnly(t *testing.T) {
	g := NewWithT(t)
	for name, mutants := range allMutants(g) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			g.Expect(mutants).NotTo(BeEmpty(), "no mutant breaks the rule")
			for _, mutant := range mutants {
				dir := t.TempDir()
				g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
				mutant.apply(g, filepath.Join(dir, release))
				broken := map[string][]conformance.Finding{}
				for _, result := range check(t, g, dir) {
					if len(result.Findings) > 0 {
						broken[result.Rule] = result.Findings
					}
				}
				g.Expect(broken).To(And(HaveLen(1), HaveKey(name)), "%+v", mutant)
				g.Expect(broken[name]).To(HaveEach(HaveField("Message", Not(BeEmpty()))))
			}
		})
	}
}

// allMutants returns the mutants of each rule that lint checks.
func allMutants(g Gomega) map[string][]mutant {
	rules, err := conformance.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	all := map[string][]mutant{}
	for _, rule := range rules {
		if rule.Lint != nil {
			all[rule.ID] = nil
		}
	}
	data, err := os.ReadFile("testdata/mutants.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var written []mutant
	g.Expect(yaml.UnmarshalStrict(data, &written)).To(Succeed())
	for _, m := range written {
		name, common := strings.CutPrefix(m.Rule, "*/")
		if !common {
			g.Expect(all).To(HaveKey(m.Rule))
			all[m.Rule] = append(all[m.Rule], m)
			continue
		}
		for contract, kind := range kinds {
			g.Expect(all).To(HaveKey(contract + "/" + name))
			all[contract+"/"+name] = append(all[contract+"/"+name], m.of(g, kind))
		}
	}
	for _, rule := range rules {
		if rule.Lint != nil && len(all[rule.ID]) == 0 {
			all[rule.ID] = schemaMutants(rule)
		}
	}
	return all
}

// schemaMutants returns mutants for each field and version of a rule that compares fields.
func schemaMutants(rule conformance.Rule) []mutant {
	object := "CustomResourceDefinition " + kinds[rule.Contract]
	if rule.Lint.Target == "template" {
		object += "Template"
	}
	var mutants []mutant
	for version, fields := range rule.Lint.Fields {
		for _, field := range fields {
			for _, change := range fieldMutants(field) {
				mutants = append(mutants, mutant{Object: object, Set: map[string]any{"version": version}, schema: change})
			}
		}
	}
	return mutants
}

// of returns the mutant with a kind's name.
func (m mutant) of(g Gomega, kind string) mutant {
	data, err := yaml.Marshal(m)
	g.Expect(err).NotTo(HaveOccurred())
	text := strings.NewReplacer("{Kind}", kind, "{kind}", strings.ToLower(kind)).Replace(string(data))
	var own mutant
	g.Expect(yaml.Unmarshal([]byte(text), &own)).To(Succeed())
	return own
}

// fieldMutants returns changes of a schema that break what a rule says about a field.
func fieldMutants(field conformance.Field) []func(map[string]any) {
	path, _, _ := strings.Cut(field.Path, "|")
	var changes []func(map[string]any)
	if field.Type != "" && !field.Absent {
		changes = append(changes, func(s map[string]any) {
			other := "boolean"
			if field.Type == other {
				other = "string"
			}
			at(s, path)["type"] = other
		})
	}
	if field.Format != "" {
		changes = append(changes, func(s map[string]any) { delete(at(s, path), "format") })
	}
	if len(field.Keys) > 0 {
		changes = append(changes, func(s map[string]any) { delete(at(s, path), "x-kubernetes-list-map-keys") })
	}
	parent, name := parentOf(path)
	if field.Optional {
		changes = append(changes, func(s map[string]any) { at(s, parent)["required"] = []any{name} })
	}
	if field.Absent {
		changes = append(changes, func(s map[string]any) {
			at(s, parent)["properties"].(map[string]any)[name] = map[string]any{"type": "string"}
		})
	}
	if field.Type == "" && !field.Absent && !field.Optional && len(field.Keys) == 0 {
		changes = append(changes, func(s map[string]any) {
			if whole, values := strings.CutSuffix(path, "{}"); values {
				delete(at(s, whole), "additionalProperties")
				return
			}
			delete(at(s, parent)["properties"].(map[string]any), name)
		})
	}
	return changes
}

func parentOf(path string) (parent, name string) {
	index := strings.LastIndex(path, ".")
	return path[:max(index, 0)], path[index+1:]
}

// at returns the schema of a field.
func at(s map[string]any, path string) map[string]any {
	if path == "" {
		return s
	}
	for _, part := range strings.Split(path, ".") {
		name := strings.TrimRight(part, "[]{}")
		s = s["properties"].(map[string]any)[name].(map[string]any)
		switch strings.TrimPrefix(part, name) {
		case "[]":
			s = s["items"].(map[string]any)
		case "{}":
			s = s["additionalProperties"].(map[string]any)
		}
	}
	return s
}

func (m mutant) apply(g Gomega, dir string) {
	for _, other := range m.Also {
		other.apply(g, dir)
	}
	path := filepath.Join(dir, components)
	if m.File != "" {
		path = filepath.Join(dir, m.File)
	}
	switch {
	case m.Rename != "":
		target := filepath.Join(dir, m.Rename)
		g.Expect(os.MkdirAll(filepath.Dir(target), 0o755)).To(Succeed())
		g.Expect(os.Rename(path, target)).To(Succeed())
	case m.Empty:
		g.Expect(os.Truncate(path, 0)).To(Succeed())
	case m.Remove && m.Object == "":
		g.Expect(os.Remove(path)).To(Succeed())
	default:
		data, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(path, []byte(m.change(g, string(data))), 0o600)).To(Succeed())
	}
}

// change returns the text of a file with the change.
func (m mutant) change(g Gomega, text string) string {
	if m.Object == "" {
		return m.replace(g, text)
	}
	documents := strings.Split(text, "---\n")
	index := slices.IndexFunc(documents, m.selects)
	g.Expect(index).To(BeNumerically(">=", 0), "there is no %s", m.Object)
	changed := m.replace(g, documents[index])
	if len(m.Set) > 0 {
		changed = m.set(g, changed)
	}
	switch {
	case m.Remove:
		documents = slices.Delete(documents, index, index+1)
	case m.Copy:
		documents = append(documents, changed)
	default:
		documents[index] = changed
	}
	return strings.Join(documents, "---\n")
}

func (m mutant) selects(document string) bool {
	kind, name, _ := strings.Cut(m.Object, " ")
	own := "name: " + name + "\n"
	if kind == "CustomResourceDefinition" {
		own = "names: {kind: " + name + ","
	}
	return strings.Contains("\n"+document, "\nkind: "+kind+"\n") && (name == "" || strings.Contains(document, own))
}

func (m mutant) replace(g Gomega, text string) string {
	for old, other := range m.Replace {
		g.Expect(text).To(ContainSubstring(old))
		text = strings.ReplaceAll(text, old, other)
	}
	return text
}

func (m mutant) set(g Gomega, document string) string {
	var object map[string]any
	g.Expect(yaml.Unmarshal([]byte(document), &object)).To(Succeed())
	for pointer, value := range m.Set {
		if m.schema != nil {
			version := field(g, object, "/spec/versions/"+value.(string)+"/schema/openAPIV3Schema")
			m.schema(version.(map[string]any))
			continue
		}
		index := strings.LastIndex(pointer, "/")
		parent, name := field(g, object, pointer[:index]).(map[string]any), unescape(pointer[index+1:])
		if value == nil {
			g.Expect(parent).To(HaveKey(name))
			delete(parent, name)
		} else {
			parent[name] = value
		}
	}
	data, err := yaml.Marshal(object)
	g.Expect(err).NotTo(HaveOccurred())
	return string(data)
}

func unescape(part string) string { return strings.ReplaceAll(part, "~1", "/") }

// field returns what a JSON pointer names.
func field(g Gomega, value any, pointer string) any {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch current := value.(type) {
		case map[string]any:
			if pointer == "" {
				return current
			}
			g.Expect(current).To(HaveKey(unescape(part)), "%s", pointer)
			value = current[unescape(part)]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil {
				index = slices.IndexFunc(current, func(item any) bool { return item.(map[string]any)["name"] == part })
			}
			g.Expect(index).To(And(BeNumerically(">=", 0), BeNumerically("<", len(current))), "%s", pointer)
			value = current[index]
		}
	}
	return value
}
