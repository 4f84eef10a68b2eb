//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance runs the conformance suite on Foo as any provider would run it.
package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

type report struct {
	Contracts []string `json:"contracts"`
	Results   []result `json:"results"`
}

type result struct {
	Rule     string   `json:"rule"`
	Status   string   `json:"status"`
	Versions []string `json:"versions"`
	Reason   string   `json:"reason"`
	Findings []struct {
		Message string `json:"message"`
	} `json:"findings"`
}

func TestFooPassesTheBehaviourRules(t *testing.T) {
	g := NewWithT(t)
	program := filepath.Join(t.TempDir(), "capi-conformance")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/capi-conformance")
	build.Dir = "../../../conformance"
	output, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))
	// The suite gives a program two minutes to start, and compiling this one can take longer.
	output, err = exec.CommandContext(t.Context(), "go", "run", "./cmd/fakecloud", "--help").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))

	var stdout, stderr bytes.Buffer
	run := exec.CommandContext(t.Context(), program, "test", "--config", "conformance.yaml",
		"--contract-version", "v1beta1,v1beta2", "--strict", "--format", "yaml")
	run.Stdout, run.Stderr, run.Env = &stdout, &stderr, os.Environ()
	failed := run.Run()
	found := report{}
	g.Expect(yaml.Unmarshal(stdout.Bytes(), &found)).To(Succeed(), stderr.String())
	g.Expect(found.Contracts).To(Equal([]string{"v1beta1", "v1beta2"}), stderr.String())
	passed, notRun := 0, []string{}
	for _, r := range found.Results {
		switch r.Status {
		case "passed":
			passed++
		case "notRun":
			notRun = append(notRun, r.Rule)
		case "failed", "warned", "unfinished":
			t.Errorf("%s in %v: %s%s", r.Rule, r.Versions, r.Reason, r.Findings)
		}
	}
	g.Expect(failed).NotTo(HaveOccurred(), stderr.String())
	g.Expect(notRun).To(BeEmpty())
	g.Expect(passed).To(BeNumerically(">=", 100))
	g.Expect(found.Results).To(ConsistOf(stored(g)), "docs/contract/behaviour.yaml differs from this run: run make contract-report, and commit what it writes")
}

// stored returns the results of the report that docs/contract.md shows.
func stored(g *WithT) []result {
	content, err := os.ReadFile("../../../docs/contract/behaviour.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	committed := report{}
	g.Expect(yaml.Unmarshal(content, &committed)).To(Succeed())
	return committed.Results
}
