// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestNamespaceFlag(t *testing.T) {
	demo := []string{"DemoMachine"}
	for name, test := range map[string]struct {
		help  string
		kinds []string
		want  conformance.Status
	}{
		"pflag":               {"Usage:\n      --namespace string   to watch\n", demo, conformance.Passed},
		"with a short form":   {"  -n, --namespace string   to watch\n", demo, conformance.Passed},
		"flag":                {"  -namespace string\n    \tto watch\n", demo, conformance.Passed},
		"another flag":        {"      --leader-elect-namespace string   of the lease\n", demo, conformance.Failed},
		"a longer flag":       {"      --namespace-selector string   to watch\n", demo, conformance.Failed},
		"only in a text":      {"      --leader-elect   in the --namespace\n", demo, conformance.Failed},
		"without controllers": {"", nil, ""},
		"of other kinds":      {"", []string{"DemoHost"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Checker{Config: demoConfig(), programs: &launcher{processes: []*process{manager(test.help, test.kinds...)}}}
			results := c.checkFlags(t.Context(), []string{"v1beta2"})
			if test.want == "" {
				g.Expect(results).To(BeEmpty())
				return
			}
			g.Expect(results).To(HaveExactElements(HaveField("Status", test.want)))
		})
	}
}

// The contracts of kinds want both flags of a provider that says it supports several instances.
func TestFlagsForSeveralInstances(t *testing.T) {
	const namespace, filter = "      --namespace string   to watch\n", "      --watch-filter string   to select\n"
	for name, test := range map[string]struct {
		help     string
		features []string
		want     []conformance.Status
	}{
		"both":        {namespace + filter, []string{"multipleInstances"}, []conformance.Status{conformance.Passed, conformance.Passed}},
		"one":         {namespace, []string{"multipleInstances"}, []conformance.Status{conformance.Passed, conformance.Failed}},
		"not claimed": {namespace, nil, []conformance.Status{conformance.Passed}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kind := &Kind{Group: "demo.example.com", Kind: "DemoMachine", Features: test.features}
			p := manager(test.help, "DemoMachine", "DemoHelper")
			c := &Checker{Config: &Config{Kinds: map[Role]*Kind{InfraMachine: kind}}, programs: &launcher{processes: []*process{p}}}
			g.Expect(c.readRules()).To(Succeed())
			var rules []string
			var found []conformance.Status
			for _, result := range c.checkFlags(t.Context(), []string{"v1beta1", "v1beta2"}) {
				rules, found = append(rules, result.Rule), append(found, result.Status)
			}
			g.Expect(found).To(Equal(test.want))
			g.Expect(rules).To(Equal([]string{"clusterctl/namespace-flag", "infrastructure-machine/multiple-instances"}[:len(found)]))
		})
	}
}

// Only the program that has a kind's controllers must have the flags that the kind's contract wants.
func TestFlagsOfSeveralPrograms(t *testing.T) {
	const both = "      --namespace string   to watch\n      --watch-filter string   to select\n"
	claimed := []string{"multipleInstances"}
	for name, test := range map[string]struct {
		machine, config string // the help of their programs
		features        map[Role][]string
		want            map[string]conformance.Status
	}{
		"of a kind that the configuration does not name": {both, "", map[Role][]string{InfraMachine: claimed}, map[string]conformance.Status{
			"infrastructure-machine/multiple-instances": conformance.Passed,
		}},
		"of a kind that does not claim it": {"", both, map[Role][]string{InfraMachine: nil, BootstrapConfig: claimed}, map[string]conformance.Status{
			"bootstrap/multiple-instances": conformance.Passed,
		}},
		"of kinds that claim it": {both, "", map[Role][]string{InfraMachine: claimed, BootstrapConfig: claimed}, map[string]conformance.Status{
			"infrastructure-machine/multiple-instances": conformance.Passed, "bootstrap/multiple-instances": conformance.Failed,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kinds := map[Role]*Kind{}
			for role, features := range test.features {
				kinds[role] = &Kind{Group: "demo.example.com", Kind: map[Role]string{InfraMachine: "DemoMachine", BootstrapConfig: "DemoConfig"}[role], Features: features}
			}
			c := &Checker{Config: &Config{Kinds: kinds}, programs: &launcher{processes: []*process{manager(test.machine, "DemoMachine"), manager(test.config, "DemoConfig")}}}
			g.Expect(c.readRules()).To(Succeed())
			found := map[string]conformance.Status{}
			for _, result := range c.checkFlags(t.Context(), []string{"v1beta2"}) {
				if strings.HasSuffix(result.Rule, "/multiple-instances") {
					found[result.Rule] = result.Status
				}
			}
			g.Expect(found).To(Equal(test.want))
		})
	}
}

// manager returns a program with controllers of kinds that prints its help.
func manager(help string, kinds ...string) *process {
	p := &process{name: "manager", arguments: []string{"printf", "%.0s" + help}}
	for _, kind := range kinds {
		p.kinds = append(p.kinds, schema.GroupKind{Group: "demo.example.com", Kind: kind})
	}
	return p
}

// demoConfig has the kind of the programs in the tests, and claims no feature.
func demoConfig() *Config {
	return &Config{Kinds: map[Role]*Kind{InfraMachine: {Group: "demo.example.com", Kind: "DemoMachine"}}}
}

// script returns a program with controllers that runs a script.
func script(text string, environment ...string) *process {
	p := manager("", "DemoMachine")
	p.arguments, p.environment = []string{"/bin/sh", "-c", text}, environment
	return p
}

// Some programs read their environment before their flags.
func TestHelpHasTheEnvironmentOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	p := script(`if [ -n "$TOKEN" ]; then echo "  --namespace string"; else echo "TOKEN is not set"; exit 1; fi`, "TOKEN=secret")
	c := &Checker{Config: demoConfig(), programs: &launcher{processes: []*process{p}}}
	g.Expect(c.checkFlags(t.Context(), []string{"v1beta2"})).To(HaveExactElements(HaveField("Status", conformance.Passed)))
}

// A wrapper that does not pass on --help starts the program once more.
func TestHelpOfAProgramThatDoesNotEnd(t *testing.T) {
	g := NewWithT(t)
	started, stopped := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "stopped")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for exists(started) != nil && pause(ctx, 10*time.Millisecond) {
		}
		cancel()
	}()
	child := fmt.Sprintf(`sh -c 'trap "touch %s" TERM; touch %s; sleep 300'`, stopped, started)
	c := &Checker{Config: demoConfig(), programs: &launcher{processes: []*process{script(child + "; true")}}}
	g.Expect(c.checkFlags(ctx, []string{"v1beta2"})).To(HaveExactElements(And(
		HaveField("Status", conformance.Unfinished), HaveField("Reason", ContainSubstring("does not end")),
	)))
	g.Eventually(func() error { return exists(stopped) }).Should(Succeed())
}

func exists(path string) error {
	_, err := os.Stat(path)
	return err
}

func TestGroupsOfAServiceAccount(t *testing.T) {
	NewWithT(t).Expect(groupsOf("system:serviceaccount:demo-system:manager")).To(Equal([]string{"system:serviceaccounts", "system:serviceaccounts:demo-system"}))
}
