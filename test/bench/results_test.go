// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for name, test := range map[string]struct {
		values []time.Duration
		want   time.Duration
	}{
		"none":       {nil, 0},
		"one":        {[]time.Duration{4}, 4},
		"odd":        {[]time.Duration{9, 1, 5}, 5},
		"even":       {[]time.Duration{8, 2, 4, 100}, 6},
		"same twice": {[]time.Duration{3, 3}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

func TestTable(t *testing.T) {
	shown := &table{title: "Title", header: []string{"", "long header", "b"}}
	shown.add("first", "1", "2")
	shown.add("a longer one", "3", "4")
	out := &strings.Builder{}
	shown.write(out)
	want := `
Title
              long header  b
first         1            2
a longer one  3            4
`
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func exampleResults() *results {
	usageOf := func(clusters, management float64) usage {
		return usage{
			{Group: groupClusters, Kind: "etcd", Processes: 1, CPU: clusters, Memory: 600 << 20},
			{Group: groupManagement, Kind: "core", Processes: 1, CPU: management, Memory: 50 << 20},
		}
	}
	reached := func(initialized, nodes time.Duration) clusterTimes {
		return clusterTimes{Reached: times{phaseInitialized: initialized * time.Second, phaseNodes: nodes * time.Second}}
	}
	return &results{
		Bare: []bareTimes{
			{Order: 5 * time.Second, Kubeadm: 4 * time.Second}, {Order: 6 * time.Second, Kubeadm: 5 * time.Second},
			{Order: 9 * time.Second, Kubeadm: 8 * time.Second},
		},
		Foo:      []clusterTimes{reached(5, 14), reached(6, 15), reached(30, 60)},
		InMemory: []clusterTimes{reached(30, 40), reached(31, 45), reached(30, 50)}, InMemoryRepeated: 2,
		Many: []manyUsage{
			{Clusters: 1, Nodes: 10 * time.Second, Usage: usageOf(8, 2), ClusterMemory: 600 << 20},
			{Clusters: 10, Nodes: 90 * time.Second, Usage: usageOf(110, 20), ClusterMemory: 5000 << 20},
		},
		Memory: &memoryUsage{Idle: 30 * time.Second, Usage: usageOf(3, 6)},
		MachinePools: []machinePoolCosts{
			{Machines: 500, Up: 4 * time.Second, Down: 6 * time.Second, CPU: 5, Requests: 1000, Writes: 900},
			{Machines: 2000, Up: 20 * time.Second, Down: 30 * time.Second, CPU: 30, Requests: 4000, Writes: 3600},
		},
	}
}

func TestText(t *testing.T) {
	text := exampleResults().text()
	for _, line := range []string{
		"Repeated, because the cluster did not come up in time: 2 runs of in-memory",
		"bare user data done 5.00 6.00 9.00 6.00",
		"bare kubeadm init itself 4.00 5.00 8.00 5.00",
		"foo ControlPlaneInitialized 5.00 6.00 30.00 6.00",
		"in-memory all Nodes Ready 40.00 45.00 50.00 45.00",
		"ControlPlaneInitialized 1.20 1.5 met",
		"all Nodes Ready 3.00 3.0 met",
		"all Nodes Ready 0.33 1.0 met",
		"10 90.0 0.0 13.00 2.00 1.30 500 0 0.0",
		"CPU per cluster at 10: 1.30 times that at 1, target 1.2: missed",
		"clusters etcd 8.00 11.00",
		"etcd 1 600.0 0.100",
		"Memory of the cluster: 600 MiB, target 700 MiB: met",
		"core 1 50.0 0.200",
		"500 4.0 6.0 20.0 10.00 2.00 1.80 0 0.0",
		"2000 20.0 30.0 25.0 15.00 2.00 1.80 0 0.0",
		"milliseconds 1.25 1.3 met",
		"CPU milliseconds 1.50 1.3 missed",
		"API requests 1.00 1.3 met",
	} {
		if !hasLine(text, line) {
			t.Errorf("there is no line %q in:\n%s", line, text)
		}
	}
}

func TestMachinePoolsThatCostTooMuch(t *testing.T) {
	for name, test := range map[string]struct {
		change func(large *machinePoolCosts)
		want   string
	}{
		"within the limits": {func(large *machinePoolCosts) { large.CPU = 26 }, ""},
		"too much CPU":      {func(*machinePoolCosts) {}, "CPU milliseconds of each machine of the largest are 1.50 times"},
		"too many requests": {func(large *machinePoolCosts) { large.CPU, large.Requests = 20, 8000 }, "API requests of each machine"},
		"needless writes":   {func(large *machinePoolCosts) { large.CPU, large.SettledWrites = 20, 2 }, "2 writes to a pool of 2000 that is settled"},
	} {
		got := exampleResults()
		test.change(&got.MachinePools[1])
		err := got.checkMachinePools()
		if test.want == "" && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		if test.want != "" && (!errors.Is(err, errMachinePools) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// hasLine reports whether a text has a line with these words.
func hasLine(text, words string) bool {
	for line := range strings.Lines(text) {
		if strings.Join(strings.Fields(line), " ") == words {
			return true
		}
	}
	return false
}

func TestTextOfNothing(t *testing.T) {
	if text := (&results{}).text(); strings.Count(text, "\n") != 1 {
		t.Errorf("want one line, got %q", text)
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
	if len(read.Foo) != 3 || read.Foo[1].Reached[phaseNodes] != 15*time.Second || read.Many[1].Usage[0].CPU != 110 {
		t.Errorf("read back: %+v", read)
	}
}
