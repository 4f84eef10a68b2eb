// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestFailureDomainOfAMachine(t *testing.T) {
	for name, test := range map[string]struct {
		contract, wanted string
		spec, status     map[string]any
		want             conformance.Status
	}{
		"as wanted":             {"v1beta2", "a", nil, map[string]any{"failureDomain": "a"}, conformance.Passed},
		"as wanted, in v1beta1": {"v1beta1", "a", map[string]any{"failureDomain": "a"}, nil, conformance.Passed},
		"elsewhere":             {"v1beta2", "a", nil, map[string]any{"failureDomain": "b"}, conformance.Failed},
		"not reported":          {"v1beta2", "a", map[string]any{"failureDomain": "a"}, nil, conformance.NotRun},
		"none in the Cluster":   {"v1beta2", "", nil, map[string]any{"failureDomain": "a"}, conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			checker := &Checker{Config: &Config{Kinds: map[Role]*Kind{InfraMachine: {Kind: "DemoMachine", Features: []string{"failureDomains"}}}}}
			g.Expect(checker.readRules()).To(Succeed())
			s := &story{scenario: machineScenarios()[0], checker: checker, contract: test.contract, results: &results{}}
			s.checkFailureDomain(&unstructured.Unstructured{Object: map[string]any{"spec": test.spec, "status": test.status}}, test.wanted)
			g.Expect(s.results.list([]string{test.contract})).To(HaveExactElements(
				And(HaveField("Rule", "infrastructure-machine/failure-domain"), HaveField("Status", test.want))))
		})
	}
}
