// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"text/template"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

func TestEachTestIsInOneShard(t *testing.T) {
	g := NewWithT(t)
	names := []string{"a", "b", "c", "d", "e"}
	var all []string
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		part, err := shardOf(names, shard)
		g.Expect(err).NotTo(HaveOccurred())
		all = append(all, part...)
	}
	g.Expect(all).To(ConsistOf(names))
	for _, wrong := range []string{"0/3", "4/3", "1", "a/b"} {
		_, err := shardOf(names, wrong)
		g.Expect(err).To(MatchError(ContainSubstring("must be a part such as 2/4")), wrong)
	}
}

func TestWrongFlags(t *testing.T) {
	g := NewWithT(t)
	command := newCommand()
	command.SetArgs([]string{"run", "--processes=0"})
	g.Expect(command.ExecuteContext(t.Context())).To(And(Satisfy(cli.IsUsage), MatchError("--processes 0: must be 1 or more; see: conformance run --help")))
	list := filepath.Join(t.TempDir(), "list")
	g.Expect(os.WriteFile(list, []byte("# comment\nno such test\n"), 0o600)).To(Succeed())
	for want, r := range map[string]run{
		`--shard "3/2": must be a part such as 2/4`:                 {shard: "3/2"},
		"--focus: error parsing regexp":                             {focus: "("},
		"--tests: open /no/list: no such file":                      {list: "/no/list"},
		`: no conformance test of v1.36.3 is called "no such test"`: {list: list},
	} {
		_, err := r.choose(suite{version: "v1.36.3", names: []string{"a test"}})
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

func TestLastResultCounts(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	for name, content := range map[string]string{
		"1.json": `{"name": "[sig-node] once", "state": "passed", "started": "2026-01-01T00:00:00Z"}`,
		"2.json": `{"name": "[sig-node] again", "state": "passed", "started": "2026-01-01T00:02:00Z"}`,
		"3.json": `{"name": "[sig-node] again", "state": "failed", "started": "2026-01-01T00:01:00Z", "message": "late\n and more"}`,
		"4.json": `{"name": "[sig-apps] never", "state": "timedout", "started": "2026-01-01T00:03:00Z", "message": "no pod"}`,
	} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)).To(Succeed())
	}
	all, err := readResults(folder)
	g.Expect(err).NotTo(HaveOccurred())
	names := []string{"[sig-apps] never", "[sig-cli] missing", "[sig-node] again", "[sig-node] once"}
	found := look(suite{version: "v1.36.3", names: names}, all, map[string]string{"[sig-apps] never": "the disk is full"})
	g.Expect(found.Total).To(Equal(4))
	g.Expect([]int{found.Passed, found.Failed, found.None}).To(Equal([]int{2, 1, 1}))
	g.Expect(found.Failures).To(ConsistOf(failure{Name: "[sig-apps] never", Message: "no pod", Cause: "the disk is full", Runs: 1}))
	g.Expect(found.Again).To(ConsistOf(failure{Name: "[sig-node] again", Message: "late", Runs: 2}))
	g.Expect(found.Missing).To(ConsistOf(failure{Name: "[sig-cli] missing"}))
	g.Expect(found.Last.Sub(found.First)).To(Equal(3 * time.Minute))

	text := template.Must(template.New("").Funcs(template.FuncMap{"percent": percent, "day": day}).Parse(reportText))
	var written bytes.Buffer
	g.Expect(text.Execute(&written, found)).To(Succeed())
	g.Expect(written.String()).To(And(
		ContainSubstring("**2 of 4**"), ContainSubstring("1 failed, 1 were not run"), ContainSubstring("Cause: the disk is full"), ContainSubstring("| cli | 1 | 0 | 0 | 1 |"),
	))
	list := filepath.Join(folder, "list.jsonl")
	g.Expect(writeList(list, names, all)).To(Succeed())
	again := map[string][]result{"[sig-cli] missing": {{Name: "[sig-cli] missing", State: passed}}, "[sig-node] again": all["[sig-node] again"][1:]}
	g.Expect(addList(list, again)).To(Succeed())
	g.Expect(again).To(HaveLen(4))
	g.Expect(again["[sig-node] again"]).To(Equal(all["[sig-node] again"]), "a result that is in both counts once")
	g.Expect(addList(filepath.Join(folder, "none"), again)).To(Succeed())
	g.Expect(os.WriteFile(list, []byte("{"), 0o600)).To(Succeed())
	g.Expect(addList(list, again)).To(MatchError(ContainSubstring("list.jsonl")))

	path := filepath.Join(folder, "junit.xml")
	g.Expect(writeJUnit(path, names, all)).To(Succeed())
	junit, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(junit)).To(And(ContainSubstring(`tests="4"`), ContainSubstring(`skipped="1"`)))
}

func TestOnlyMissingProgramsAreBusybox(t *testing.T) {
	g := NewWithT(t)
	files := withApplets([]image.File{
		{Path: "usr/bin/ps", Kind: tar.TypeReg}, {Path: "usr/sbin/ip", Kind: tar.TypeReg}, {Path: "usr/share/doc/wget", Kind: tar.TypeDir},
	}, []string{"ps", "ip", "wget"})
	g.Expect(files).To(HaveLen(4))
	g.Expect(files[3]).To(Equal(image.Link("usr/bin/wget", "busybox")))
}
