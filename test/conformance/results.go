// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
	"sigs.k8s.io/yaml"
)

// passed is the state of a result; all others are failures of one kind or another.
const passed = "passed"

// result is the suite's record of one run of a test; see suite/result_test.go.
type result struct {
	Name    string        `json:"name"`
	State   string        `json:"state"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took,omitempty"`
	Message string        `json:"message,omitempty"`
	Where   string        `json:"where,omitempty"`
	Stolen  float64       `json:"stolen,omitempty"`
}

// readResults returns the results of each test, oldest first.
func readResults(folder string) (map[string][]result, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string][]result{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var one result
		if err := json.Unmarshal(content, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[one.Name] = append(all[one.Name], one)
	}
	sortResults(all)
	return all, nil
}

func sortResults(all map[string][]result) {
	for _, results := range all {
		slices.SortFunc(results, func(a, b result) int { return a.Started.Compare(b.Started) })
	}
}

// addList adds the results of a list that writeList wrote, if there is one, to the results of a
// folder. A run that is in both counts once.
func addList(path string, all map[string][]result) error {
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	for decoder.More() {
		var one result
		if err := decoder.Decode(&one); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !slices.ContainsFunc(all[one.Name], func(known result) bool { return known.Started.Equal(one.Started) }) {
			all[one.Name] = append(all[one.Name], one)
		}
	}
	sortResults(all)
	return nil
}

// writeList writes all results, one on each line.
func writeList(path string, names []string, all map[string][]result) error {
	var list bytes.Buffer
	encoder := json.NewEncoder(&list)
	encoder.SetEscapeHTML(false)
	for _, name := range names {
		for _, one := range all[name] {
			if err := encoder.Encode(one); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, list.Bytes(), fileMode)
}

// last returns the state of a test's last result, or "not run".
func last(results []result) string {
	if len(results) == 0 {
		return "not run"
	}
	return results[len(results)-1].State
}

// suite is the built suite of one Kubernetes version.
type suite struct {
	program, version string
	// names of its conformance tests, sorted.
	names []string
}

var gitVersion = regexp.MustCompile(`v[0-9]+\.[0-9]+\.[0-9]+`)

func openSuite(ctx context.Context, bin string) (suite, error) {
	s := suite{program: filepath.Join(bin, "conformance", "e2e.test")}
	version, err := s.output(ctx, "--version")
	if err != nil {
		return s, err
	}
	s.version = gitVersion.FindString(string(version))
	content, err := s.output(ctx, "--list-conformance-tests")
	if err != nil {
		return s, err
	}
	var tests []struct {
		Codename string `json:"codename"`
	}
	if err := yaml.Unmarshal(content, &tests); err != nil {
		return s, fmt.Errorf("read the list of conformance tests: %w", err)
	}
	for _, test := range tests {
		s.names = append(s.names, test.Codename)
	}
	slices.Sort(s.names)
	return s, nil
}

func (s suite) output(ctx context.Context, flag string) ([]byte, error) {
	command := exec.CommandContext(ctx, s.program, flag)
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", s.program, flag, err, problem.String())
	}
	return output, nil
}

// shardOf returns the tests of a part such as 2/4. Each part has the same tests in every run.
func shardOf(names []string, shard string) ([]string, error) {
	if shard == "" {
		return names, nil
	}
	part, of, _ := strings.Cut(shard, "/")
	number, err := strconv.Atoi(part)
	total, problem := strconv.Atoi(of)
	if err != nil || problem != nil || number < 1 || number > total {
		return nil, fmt.Errorf("--shard %q: must be a part such as 2/4", shard)
	}
	var chosen []string
	for index, name := range names {
		if index%total == number-1 {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// writeJUnit writes the last result of each test in JUnit format.
func writeJUnit(path string, names []string, all map[string][]result) error {
	report := types.Report{SuiteDescription: "Kubernetes conformance", SuiteSucceeded: true}
	for _, name := range names {
		spec := types.SpecReport{LeafNodeType: types.NodeTypeIt, LeafNodeText: name, State: types.SpecStateSkipped}
		if results := all[name]; len(results) > 0 {
			one := results[len(results)-1]
			spec.State, spec.RunTime, spec.StartTime, spec.NumAttempts = stateOf(one.State), one.Took, one.Started, len(results)
			spec.Failure.Message = one.Message
		}
		report.SuiteSucceeded = report.SuiteSucceeded && spec.State == types.SpecStatePassed
		report.SpecReports = append(report.SpecReports, spec)
	}
	return reporters.GenerateJUnitReport(report, path)
}

func stateOf(name string) types.SpecState {
	for _, state := range []types.SpecState{types.SpecStatePassed, types.SpecStateSkipped, types.SpecStatePanicked, types.SpecStateTimedout} {
		if state.String() == name {
			return state
		}
	}
	return types.SpecStateFailed
}
