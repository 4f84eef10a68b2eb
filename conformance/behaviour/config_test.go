// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLoadConfigRefuses(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"empty":             {"", "name at least one of the provider's kinds"},
		"an unknown field":  {"kind: x", `conformance.yaml: unknown field "kind"`},
		"an unknown kind":   {"kinds: {machine: {group: a, kind: B}}", `"machine" is no contract; allowed: [bootstrap control-plane`},
		"an empty kind":     {"kinds: {bootstrap: }", "bootstrap is empty"},
		"no group":          {"kinds: {bootstrap: {kind: B}}", "needs a group and a kind"},
		"an unknown stage":  {"kinds: {bootstrap: {group: a, kind: B, reaches: ready}}", `reaches is "ready"; allowed: [waiting dataSecretCreated]`},
		"a wrong feature":   {"kinds: {infrastructure-machine: {group: a, kind: B, features: [failureDomain, template]}}", "no rule has the features [failureDomain]; allowed: [addresses"},
		"an unknown server": {"kinds: {runtime-extension: {program: x}}", `program is "x": want the name of one of the programs`},
		"a program":         {"kinds: {bootstrap: {group: a, kind: B}}\nprograms: [{name: x}]", "programs[0]: needs a name and a command"},
		"an account":        {"kinds: {bootstrap: {group: a, kind: B}}\nprograms: [{name: x, command: [x], serviceAccount: other}]", `serviceAccount is "other", and there are no components`},
		"a version":         {"kinds: {bootstrap: {group: a, kind: B}}\ncontracts: [v1]", "allowed: v1beta1, v1beta2"},
		"parallel":          {"kinds: {bootstrap: {group: a, kind: B}}\nparallel: -1", "want positive values"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "conformance.yaml")
			g.Expect(os.WriteFile(path, []byte(test.content), 0o600)).To(Succeed())
			_, err := LoadConfig(path)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestScenariosMustExist(t *testing.T) {
	g := NewWithT(t)
	config := &Config{Kinds: map[Role]*Kind{BootstrapConfig: {Group: "a", Kind: "B"}}}
	config.setDefaults()
	_, err := (&Checker{Config: config, Scenarios: []string{"*pause*", "life of a pool"}}).Check(t.Context(), nil)
	g.Expect(err).To(MatchError(ContainSubstring(`no scenario of the configuration's kinds matches "life of a pool"`)))
}

func TestMachinesHaveVersionsWithAPrefix(t *testing.T) {
	for _, version := range []string{"1.36.3", "v1.36.3"} {
		s := &story{checker: &Checker{Config: &Config{KubernetesVersion: version}}}
		NewWithT(t).Expect(s.newMachine("m0", nil, nil).Spec.Version).To(Equal("v1.36.3"), version)
	}
}
