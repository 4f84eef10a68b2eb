// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
	"sigs.k8s.io/yaml"
)

// reportText is the template of the report.
//
//go:embed report.md.tmpl
var reportText string

// report holds the user's choices.
type report struct {
	bin, results, causes, output string
}

// findings is the content of the report.
type findings struct {
	Version                     string
	Total, Passed, Failed, None int
	First, Last                 time.Time
	Kernel, Cgroups             string
	Groups                      []*group
	Failures                    []failure
	// Again are the tests that passed only when they were run again.
	Again []failure
	// Missing are the tests without a result.
	Missing []failure
}

// group is the tests of one special interest group of Kubernetes.
type group struct {
	Name                        string
	Total, Passed, Failed, None int
}

// failure is a test that failed at least once.
type failure struct {
	Name, Message, Cause string
	Stolen               float64
	Runs                 int
}

func (r report) write(ctx context.Context) error {
	s, err := openSuite(ctx, r.bin)
	if err != nil {
		return err
	}
	all, err := readResults(filepath.Join(r.results, s.version))
	if err != nil {
		return err
	}
	// A run elsewhere, or of some of the tests, adds to what has been reported.
	list := filepath.Join(r.output, "results-"+s.version+".jsonl")
	if err := addList(list, all); err != nil {
		return err
	}
	content, err := os.ReadFile(r.causes)
	if err != nil {
		return err
	}
	causes := map[string]string{}
	if err := yaml.UnmarshalStrict(content, &causes); err != nil {
		return fmt.Errorf("%s: %w", r.causes, err)
	}
	found := look(s, all, causes)
	text, err := template.New("report").Funcs(template.FuncMap{"percent": percent, "day": day}).Parse(reportText)
	if err != nil {
		return err
	}
	var written bytes.Buffer
	if err := text.Execute(&written, found); err != nil {
		return err
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil { //nolint:gosec // anyone may read it
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(r.output, "README.md"), written.Bytes(), fileMode),
		writeList(list, s.names, all),
		writeJUnit(filepath.Join(r.output, "junit.xml"), s.names, all),
	)
}

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// look counts and groups the results.
func look(s suite, all map[string][]result, causes map[string]string) findings {
	found := findings{Version: s.version, Total: len(s.names), Kernel: kernel(), Cgroups: "v1"}
	if cgroups.IsCgroup2UnifiedMode() {
		found.Cgroups = "v2"
	}
	for _, name := range s.names {
		results := all[name]
		one := found.group(name)
		one.Total++
		for _, result := range results {
			if found.First.IsZero() || result.Started.Before(found.First) {
				found.First = result.Started
			}
			if result.Started.After(found.Last) {
				found.Last = result.Started
			}
		}
		switch index := slices.IndexFunc(results, func(r result) bool { return r.State != passed }); {
		case len(results) == 0:
			found.None++
			one.None++
			found.Missing = append(found.Missing, failure{Name: name, Cause: causes[name]})
		case last(results) == passed:
			found.Passed++
			one.Passed++
			if index >= 0 {
				found.Again = append(found.Again, newFailure(results, results[index], causes))
			}
		default:
			found.Failed++
			one.Failed++
			found.Failures = append(found.Failures, newFailure(results, results[len(results)-1], causes))
		}
	}
	return found
}

func newFailure(results []result, shown result, causes map[string]string) failure {
	message, _, _ := strings.Cut(strings.TrimSpace(shown.Message), "\n")
	return failure{Name: shown.Name, Message: message, Cause: causes[shown.Name], Stolen: shown.Stolen, Runs: len(results)}
}

// group returns the group at the start of a test's name.
func (f *findings) group(test string) *group {
	name, _, _ := strings.Cut(strings.TrimPrefix(test, "[sig-"), "]")
	index := slices.IndexFunc(f.Groups, func(g *group) bool { return g.Name == name })
	if index < 0 {
		f.Groups = append(f.Groups, &group{Name: name})
		index = len(f.Groups) - 1
	}
	return f.Groups[index]
}

// kernel returns the version of the machine's kernel.
func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "unknown"
	}
	version, _, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), "-")
	return version
}
