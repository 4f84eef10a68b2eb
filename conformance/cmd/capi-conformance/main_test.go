// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const base = "../../lint/testdata/base"

func execute(t *testing.T, stdin string, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand()
	command.SetArgs(args)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.ExecuteContext(t.Context())
	if err != nil {
		out.WriteString(err.Error())
	}
	return out.String(), report(err)
}

func TestCommands(t *testing.T) {
	clusterWide := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: democlusters.infrastructure.cluster.x-k8s.io\n" +
		"  labels: {cluster.x-k8s.io/v1beta2: v1}\nspec:\n  group: infrastructure.cluster.x-k8s.io\n  scope: Cluster\n  names: {kind: DemoCluster}\n" +
		"  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {properties: {status: {type: object}}}}}\n"
	for name, test := range map[string]struct {
		args  []string
		stdin string
		code  int
		want  string
	}{
		"rules":              {[]string{"rules"}, "", 0, "control-plane/kubeconfig "},
		"rules of a level":   {[]string{"rules", "--level", "live", "--contract", "bootstrap"}, "", 0, "bootstrap/data-secret "},
		"unknown level":      {[]string{"rules", "--level", "unit"}, "", exitUsage, "allowed: lint,behaviour,live"},
		"unknown contract":   {[]string{"rules", "--contract", "core"}, "", exitUsage, "allowed: bootstrap, clusterctl"},
		"explain":            {[]string{"explain", "control-plane/kubeconfig"}, "", 0, "https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane#cluster-kubeconfig-management"},
		"explain nothing":    {[]string{"explain"}, "", exitUsage, "accepts 1 arg"},
		"explain unknown":    {[]string{"explain", "kubeconfig"}, "", exitUsage, "similar: control-plane/kubeconfig"},
		"clean":              {[]string{"lint", "--strict", base}, "", 0, "infrastructure-demo v0.1.0, contract v1beta1 and v1beta2"},
		"findings":           {[]string{"lint", "-"}, clusterWide, exitFindings, "error infrastructure-cluster/scope\n  -:1 CustomResourceDefinition democlusters"},
		"skip":               {[]string{"lint", base, "--skip", "clusterctl/yaml=a reason"}, "", 0, "1 skipped"},
		"skip without cause": {[]string{"lint", base, "--skip", "clusterctl/yaml"}, "", exitUsage, "say why"},
		"no file":            {[]string{"lint"}, "", exitUsage, "name a file"},
		"missing file":       {[]string{"lint", "missing.yaml"}, "", exitUsage, "no such file"},
		"both":               {[]string{"lint", base, "--kubeconfig", "x"}, "", exitUsage, "either files or --kubeconfig"},
		"unknown format":     {[]string{"lint", base, "--format", "pdf"}, "", exitUsage, "allowed: badge, github"},
		"no folder":          {[]string{"lint", base, "--output", "missing/report.yaml"}, "", exitUsage, "--output: open missing/report.yaml: no such file"},
		"a folder as report": {[]string{"lint", base, "--output", base}, "", exitUsage, "--output: open ../../lint/testdata/base: is a directory"},
		"live without":       {[]string{"test", "--live"}, "", exitUsage, "--live needs --template FILE"},
		"live patience":      {[]string{"test", "--live", "--template", "x", "--patience", "0s"}, "", exitUsage, "want a positive duration"},
		"live missing":       {[]string{"test", "--live", "--template", "missing.yaml"}, "", exitUsage, "no such file"},
		"previous alone":     {[]string{"test", "--live", "--template", "x", "--previous-release", "addon-x=v0.1.0"}, "", exitUsage, "need --release"},
		"release alone":      {[]string{"test", "--live", "--template", "x", "--release", "addon-x=v0.1.0"}, "", exitUsage, "needs --clusterctl-config"},
		"release of nobody":  {[]string{"test", "--live", "--template", "x", "--release", "v0.1.0"}, "", exitUsage, "must be formatted as key=value"},
		"release of nothing": {[]string{"test", "--live", "--template", "x", "--release", "x=v0.1.0"}, "", exitUsage, "has no known type"},
		"no clusterctl": {[]string{"test", "--live", "--template", "x", "--release", "addon-x=v0.1.0", "--clusterctl-config", "main_test.go",
			"--clusterctl", "./missing"}, "", exitUsage, "--clusterctl:"},
		"no clusterctl config": {[]string{"test", "--live", "--template", "x", "--release", "addon-x=v0.1.0", "--clusterctl-config", "missing.yaml"}, "", exitUsage, "--clusterctl-config:"},
		"no topology":          {[]string{"test", "--live", "--template", "main_test.go", "--topology-template", "missing.yaml"}, "", exitUsage, "missing.yaml: no such file"},
		"a hooks port only":    {[]string{"test", "--live", "--template", "main_test.go", "--hooks-address", ":9443"}, "", exitUsage, "--hooks-address is \":9443\", want HOST:PORT"},
		"hooks everywhere":     {[]string{"test", "--live", "--template", "main_test.go", "--hooks-address", "0.0.0.0:9443"}, "", exitUsage, "--hooks-address is \"0.0.0.0:9443\", want the HOST that the management cluster connects to"},
		"not live":             {[]string{"test", "--template", "x"}, "", exitUsage, "--template needs --live"},
		"an upgrade, not live": {[]string{"test", "--provider", "x", "--upgrade-to", "v1.36.3"}, "", exitUsage, "--provider needs --live\n--upgrade-to needs --live"},
		"a scenario, live":     {[]string{"test", "--live", "--template", "x", "--scenario", "*pause*"}, "", exitUsage, "--scenario cannot be combined with --live"},
		"unknown version":      {[]string{"lint", base, "--contract-version", "v1"}, "", exitUsage, "allowed: v1beta1, v1beta2"},
		"nothing to check":     {[]string{"lint", "-"}, "", exitUsage, "has no manifests of a provider"},
		"no YAML":              {[]string{"lint", "-"}, "{{", exitFindings, "error clusterctl/yaml"},
		"line of no YAML":      {[]string{"lint", "-"}, clusterWide + "---\n\na: b\nc: [\n---\n", exitFindings, "\n  -:15: yaml: line 15: did not find"},
		"no such version":      {[]string{"lint", "-", "--contract-version", "v1beta1"}, clusterWide, exitFindings, "no CRD has the label cluster.x-k8s.io/v1beta1"},
		"test an argument":     {[]string{"test", "x"}, "", exitUsage, "unknown command"},
		"test no file":         {[]string{"test"}, "", exitUsage, "--config: open conformance.yaml: no such file"},
		"no such scenario":     {[]string{"test", "--config", "../../examples/docker-provider.yaml", "--scenario", "nap"}, "", exitUsage, `--scenario: no scenario of the configuration's kinds matches "nap"`},
		"unknown flag":         {[]string{"lint", "--fast"}, "", exitUsage, "unknown flag: --fast"},
		"unknown command":      {[]string{"linnt"}, "", exitUsage, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, code := execute(t, test.stdin, test.args...)
			g.Expect(code).To(Equal(test.code), out)
			g.Expect(out).To(ContainSubstring(test.want))
		})
	}
}

func TestLintWritesAReport(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "report.yaml")
	out, code := execute(t, "", "lint", base, "--format", "yaml", "--output", path, "--name", "Demo")
	g.Expect(code).To(Equal(0), out)
	g.Expect(out).To(HavePrefix("Demo v0.1.0, contract"))
	written, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(written)).To(And(ContainSubstring("kind: ConformanceReport"), ContainSubstring("name: Demo"), ContainSubstring("reproduce: capi-conformance ")))
}

func TestAReportIsNotLost(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "report.yaml")
	_, code := execute(t, "", "lint", "missing.yaml", "--output", path)
	g.Expect(code).To(Equal(exitUsage))
	g.Expect(path).NotTo(BeAnExistingFile(), "nothing was checked")

	unknown := &conformance.Report{Results: []conformance.Result{{Rule: "a/b", Status: conformance.Passed}}}
	g.Expect(os.WriteFile(path, []byte("old"), 0o600)).To(Succeed())
	var out bytes.Buffer
	command := newLintCommand()
	command.SetOut(&out)
	for format, file := range map[string]string{"html": path, "yaml": filepath.Dir(path)} {
		out.Reset()
		flags := checkFlags{format: format, output: file}
		g.Expect(flags.check()).To(Or(Succeed(), MatchError(ContainSubstring("is a directory"))))
		g.Expect(flags.write(command, unknown)).To(MatchError(ContainSubstring("write " + file)))
		g.Expect(out.String()).To(HaveSuffix("1 passed\n"))
	}
	g.Expect(os.ReadFile(path)).To(BeEquivalentTo("old"))
}

func TestReportMergesStoredReports(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	stored, broken := filepath.Join(dir, "lint.yaml"), filepath.Join(dir, "broken.yaml")
	out, code := execute(t, "", "lint", base, "--format", "yaml", "--output", stored, "--undated", "--reproduce", "make it")
	g.Expect(code).To(Equal(0), out)
	out, code = execute(t, "", "report", stored, stored, "--format", "markdown")
	g.Expect(code).To(Equal(0), out)
	g.Expect(out).To(And(HavePrefix("# Cluster API conformance: infrastructure-demo v0.1.0"), ContainSubstring("| must | passed | | |")))
	g.Expect(out).To(And(ContainSubstring("\nMeasured for the contract"), ContainSubstring("\n```\nmake it\n```\n")))

	g.Expect(os.WriteFile(broken, []byte("kind: Pod"), 0o600)).To(Succeed())
	out, code = execute(t, "", "report", broken)
	g.Expect(code).To(Equal(exitUsage))
	g.Expect(out).To(ContainSubstring("want a ConformanceReport"))
	out, code = execute(t, "", "lint", base, "--name", "Other", "--format", "yaml", "--output", broken)
	g.Expect(code).To(Equal(0), out)
	out, code = execute(t, "", "report", stored, broken)
	g.Expect(code).To(Equal(exitUsage))
	g.Expect(out).To(ContainSubstring("want one implementation"))
}
