// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		want   float64
	}{
		"none":       {nil, 0},
		"one":        {[]float64{4}, 4},
		"odd":        {[]float64{9, 1, 5}, 5},
		"even":       {[]float64{8, 2, 4, 100}, 6},
		"same twice": {[]float64{3, 3}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("%s: got %g, want %g", name, got, test.want)
		}
	}
}

// exampleResults has two runs of everything that is compared, and one of the rest.
func exampleResults() *results {
	r := newResults(options{kubernetesVersion: "v1.36.3", clusters: []int{1, 10}, pools: []int{500, 2000}})
	r.Began = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for turn, number := range []float64{4, 6} {
		r.Runs = append(r.Runs,
			&measurement{benchmarkBare, []value{{"load", float64(turn)}, {unitOrder, number + 1}, {unitKubeadm, number}}},
			&measurement{benchmarkFoo, []value{{string(phaseInitialized), number + 1}, {string(phaseNodes), 5 * number}}},
			&measurement{benchmarkInMemory, []value{{string(phaseNodes), 10 * number}}},
			&measurement{benchmarkFooControlPlane, []value{{unitCreated, number}, {unitRolled, number}}},
			&measurement{benchmarkKubeadmControlPlane, []value{{unitCreated, 2 * number}, {unitRolled, number}}},
		)
	}
	usageOf := func(clusters, management float64) usage {
		return usage{
			{Group: groupClusters, Kind: "etcd", Processes: 1, CPU: clusters, Memory: 600 << 20},
			{Group: groupManagement, Kind: "core", Processes: 1, CPU: management, Memory: 50 << 20},
		}
	}
	for _, run := range []struct {
		clusters int
		spent    usage
	}{{1, usageOf(8, 2)}, {10, usageOf(110, 20)}} {
		many := &measurement{Benchmark: benchmarkMany(run.clusters), Values: []value{{string(phaseNodes), 80}}}
		r.Runs = append(r.Runs, &measurement{benchmarkManyInMemory(run.clusters), []value{{string(phaseNodes), 40}}})
		each := make([]*cluster, run.clusters)
		for index := range each {
			each[index] = &cluster{reached: times{phaseNodes: time.Duration(index+10) * time.Second}}
		}
		r.Runs = append(append(r.Runs, many), manyUsage(many, run.spent, run.spent, each)...)
	}
	memory := &measurement{Benchmark: benchmarkMemory}
	r.Runs = append(append(r.Runs, memory), memoryUsage(memory, usageOf(3, 6), 30*time.Second)...)
	for size, costs := range map[int]poolCosts{
		500:  {up: 4 * time.Second, down: 6 * time.Second, cpu: 5, requests: 1000, writes: 900},
		2000: {up: 20 * time.Second, down: 30 * time.Second, cpu: 26, requests: 4000, writes: 3600},
	} {
		pool := &measurement{Benchmark: benchmarkPool(size)}
		costs.addTo(pool, size)
		r.Runs = append(r.Runs, pool)
	}
	return r
}

func TestText(t *testing.T) {
	text := exampleResults().text()
	for _, line := range []string{
		"Kubernetes v1.36.3, ",
		"BenchmarkBare 1 0 load 5 user-data-done-s 4 kubeadm-init-s",
		"Bare user-data-done-s 5.00 7.00 6.00",
		"Foo ControlPlaneInitialized-s 5.00 7.00 6.00",
		"Foo ControlPlaneInitialized-s 1.20 1.10 missed times Bare kubeadm-init-s",
		"Foo Nodes-Ready-s 5.00 3.00 missed times Bare kubeadm-init-s",
		"Foo Nodes-Ready-s 0.50 1.00 met times InMemory Nodes-Ready-s",
		"Many/clusters=10 CPU-s/cluster 13.00 13.00",
		"Many/clusters=10 management-CPU-s/cluster 2.00 2.00",
		"Many/clusters=10 MiB/cluster 60.00 60.00",
		"Many/clusters=10 CPU-s/cluster 1.30 1.40 met times Many/clusters=1 CPU-s/cluster",
		"Many/clusters=10 Nodes-Ready-s 2.00 2.50 met times ManyInMemory/clusters=10 Nodes-Ready-s",
		"Many/clusters=10/group=clusters/process=etcd CPU-s/cluster 11.00 11.00",
		"Many/clusters=10/each Nodes-Ready-s 10.00 11.00 12.00 13.00 14.00 15.00 16.00 17.00 18.00 19.00 14.50",
		"Memory idle-CPUs 0.10 0.10",
		"Memory MiB/cluster 600.00 900.00 met",
		"Memory/group=management/process=core MiB 50.00 50.00",
		"Memory/group=management/process=core idle-CPUs 0.20 0.20",
		"ControlPlane/kind=FooControlPlane created-s 0.50 0.50 met times ControlPlane/kind=KubeadmControlPlane created-s",
		"ControlPlane/kind=FooControlPlane rolled-s 1.00 0.60 missed times ControlPlane/kind=KubeadmControlPlane rolled-s",
		"Pool/machines=500 ms/machine 20.00 20.00",
		"Pool/machines=2000 CPU-ms/machine 13.00 13.00",
		"Pool/machines=2000 ms/machine 1.25 1.30 met times Pool/machines=500 ms/machine",
		"Pool/machines=2000 API-requests/machine 1.00 1.30 met times Pool/machines=500 API-requests/machine",
		"Pool/machines=2000 settled-writes 0.00 0.00 met",
	} {
		if !hasLine(text, line) {
			t.Errorf("there is no line %q in:\n%s", line, text)
		}
	}
}

// hasLine reports whether a text has a line that begins with these words.
func hasLine(text, words string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " "), words) {
			return true
		}
	}
	return false
}

// The format is specified at https://go.dev/design/14313-benchmark-format: a name without spaces, a
// number of iterations, and pairs of a number and a unit.
func TestBenchstatReadsEachRun(t *testing.T) {
	format := regexp.MustCompile(`^Benchmark[A-Z]\S* 1( [-+.0-9e]+ [^\s0-9]\S*)+$`)
	for _, run := range exampleResults().Runs {
		if !format.MatchString(run.String()) {
			t.Errorf("not in the format of benchmarks: %q", run)
		}
	}
}

func TestRequiredTargets(t *testing.T) {
	for name, test := range map[string]struct {
		change func(large *poolCosts)
		want   string
	}{
		"within the limits": {func(*poolCosts) {}, ""},
		"too much CPU":      {func(large *poolCosts) { large.cpu = 30 }, "Pool/machines=2000 CPU-ms/machine is 1.50 times Pool/machines=500 CPU-ms/machine"},
		"too many requests": {func(large *poolCosts) { large.requests = 8000 }, "API-requests/machine is 2.00 times"},
		"needless writes":   {func(large *poolCosts) { large.settledWrites = 2 }, "Pool/machines=2000 settled-writes is 2.00"},
	} {
		r := newResults(options{clusters: []int{1}, pools: []int{500, 2000}})
		small := poolCosts{up: 4 * time.Second, down: 6 * time.Second, cpu: 5, requests: 1000, writes: 900}
		large := poolCosts{up: 20 * time.Second, down: 30 * time.Second, cpu: 20, requests: 4000, writes: 3600}
		test.change(&large)
		for size, costs := range map[int]poolCosts{500: small, 2000: large} {
			run := &measurement{Benchmark: benchmarkPool(size)}
			costs.addTo(run, size)
			r.Runs = append(r.Runs, run)
		}
		err := r.check()
		if test.want == "" && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		if test.want != "" && (!errors.Is(err, errMissed) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func TestNothingIsComparedWithWhatWasNotMeasured(t *testing.T) {
	r := exampleResults()
	r.Runs = r.Runs[1:2] // one run of Foo
	if text := r.text(); strings.Contains(text, "met") || strings.Contains(text, "missed") {
		t.Errorf("something is compared:\n%s", text)
	}
}

func TestWriteJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := exampleResults().write(&strings.Builder{}, path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var read results
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	if got := read.numbers(benchmarkFoo, string(phaseNodes)); len(got) != 2 || got[1] != 30 {
		t.Errorf("read back: %v", got)
	}
}
