// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// Foo's targets.
const (
	targetInitialized = 1.5       // times a bare kubeadm init
	targetNodes       = 3.0       // times a bare kubeadm init
	targetMany        = 1.2       // CPU per cluster at the largest number, times that of one cluster
	targetMemory      = 700 << 20 // bytes
)

// text returns the tables of the available results.
func (r *results) text() string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "Kubernetes %s, %d CPUs, %s\n", r.KubernetesVersion, r.CPUs, r.Began.UTC().Format(time.RFC3339))
	r.printRuns(out)
	r.printTargets(out)
	r.printMany(out)
	r.printMemory(out)
	r.printControlPlanes(out)
	r.printMachinePools(out)
	return out.String()
}

// printRuns prints each run and the median: one line per time, one column per run.
func (r *results) printRuns(out *strings.Builder) {
	turns := max(len(r.Bare), len(r.Foo), len(r.InMemory))
	if turns == 0 {
		return
	}
	t := &table{title: "Time from ordering the instance (bare) or applying the objects (others), in seconds", header: []string{"", ""}}
	for turn := range turns {
		t.header = append(t.header, fmt.Sprintf("run %d", turn+1))
	}
	t.header = append(t.header, "median")
	if len(r.Bare) > 0 {
		t.add(row("bare", "user data done", durations(r.Bare, func(b bareTimes) time.Duration { return b.Order }))...)
		t.add(row("bare", "kubeadm init itself", durations(r.Bare, func(b bareTimes) time.Duration { return b.Kubeadm }))...)
		t.add(loads("bare", r.Bare, func(b bareTimes) float64 { return b.Load })...)
	}
	addPhases(t, "foo", r.Foo)
	addPhases(t, "in-memory", r.InMemory)
	t.write(out)
	if r.InMemoryRepeated > 0 {
		fmt.Fprintf(out, "Repeated, because the cluster did not come up in time: %d runs of in-memory\n", r.InMemoryRepeated)
	}
}

func addPhases(t *table, name string, runs []clusterTimes) {
	if len(runs) == 0 {
		return
	}
	for _, phase := range phases {
		if len(runs[0].Reached.missing(phase)) == 0 {
			t.add(row(name, string(phase), durations(runs, at(phase)))...)
		}
	}
	t.add(loads(name, runs, func(c clusterTimes) float64 { return c.Load })...)
}

// at returns a function that returns when a cluster reached a phase.
func at(phase phase) func(clusterTimes) time.Duration {
	return func(c clusterTimes) time.Duration { return c.Reached[phase] }
}

func durations[T any](runs []T, of func(T) time.Duration) []time.Duration {
	list := make([]time.Duration, 0, len(runs))
	for _, run := range runs {
		list = append(list, of(run))
	}
	return list
}

func loads[T any](name string, runs []T, of func(T) float64) []string {
	cells := append(make([]string, 0, 2+len(runs)), name, "load of the machine before")
	for _, run := range runs {
		cells = append(cells, fmt.Sprintf("%.1f", of(run)))
	}
	return cells
}

// row returns a line of a table: each duration, and their median.
func row(who, what string, list []time.Duration) []string {
	cells := []string{who, what}
	for _, duration := range list {
		cells = append(cells, fmt.Sprintf("%.2f", duration.Seconds()))
	}
	return append(cells, fmt.Sprintf("%.2f", median(list).Seconds()))
}

// printTargets compares the clusters of Foo with the others in the same turns.
func (r *results) printTargets(out *strings.Builder) {
	if len(r.Foo) == 0 {
		return
	}
	nodes := median(durations(r.Foo, at(phaseNodes)))
	if len(r.Bare) > 0 {
		kubeadm := median(durations(r.Bare, func(b bareTimes) time.Duration { return b.Kubeadm }))
		initialized := median(durations(r.Foo, at(phaseInitialized)))
		t := &table{title: "Foo, times a bare kubeadm init itself, by the medians", header: []string{"", "ratio", "target", ""}}
		t.add(compared(string(phaseInitialized), initialized, kubeadm, targetInitialized)...)
		t.add(compared(string(phaseNodes), nodes, kubeadm, targetNodes)...)
		t.write(out)
	}
	if len(r.InMemory) > 0 {
		t := &table{title: "Foo, times the in-memory provider, by the medians", header: []string{"", "ratio", "target", ""}}
		t.add(compared(string(phaseNodes), nodes, median(durations(r.InMemory, at(phaseNodes))), 1)...)
		t.write(out)
	}
}

func compared(name string, got, with time.Duration, target float64) []string {
	ratio := got.Seconds() / with.Seconds()
	return []string{name, fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.1f", target), verdict(ratio, target)}
}

func verdict(got, most float64) string {
	if got <= most {
		return "met"
	}
	return "missed"
}
