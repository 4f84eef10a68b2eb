// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// controlPlaneMeasures are the compared costs, with the maximum ratio of a FooControlPlane to a
// KubeadmControlPlane.
var controlPlaneMeasures = []struct {
	name   string
	target float64
	of     func(controlPlaneCosts) float64
}{
	{"seconds to all machines", 0.5, func(c controlPlaneCosts) float64 { return c.Created.Seconds() }},
	{"seconds to roll all machines", 0.6, func(c controlPlaneCosts) float64 { return c.Rolled.Seconds() }},
	{"API requests of the controller", 0.8, func(c controlPlaneCosts) float64 { return c.Requests }},
	{"CPU seconds of the controller", 0.7, func(c controlPlaneCosts) float64 { return c.CPU }},
	{"MiB of the controller, PSS", 1, func(c controlPlaneCosts) float64 { return inMebibytes(c.PSS) }},
	{"MiB of the controller, RSS", 1, func(c controlPlaneCosts) float64 { return inMebibytes(c.RSS) }},
}

func (r *results) printControlPlanes(out *strings.Builder) {
	foo, kubeadm := r.FooControlPlane, r.KubeadmControlPlane
	if len(foo) == 0 && len(kubeadm) == 0 {
		return
	}
	t := &table{title: fmt.Sprintf("A control plane of %d machines, created and then rolled from one Kubernetes version to the next", r.Machines), header: []string{"", ""}}
	for turn := range max(len(foo), len(kubeadm)) {
		t.header = append(t.header, fmt.Sprintf("run %d", turn+1))
	}
	t.header = append(t.header, "median")
	addControlPlanes(t, kindFooControlPlane, foo)
	addControlPlanes(t, kindKubeadmControlPlane, kubeadm)
	t.write(out)
	if len(foo) == 0 || len(kubeadm) == 0 {
		return
	}
	ratios := &table{title: "FooControlPlane, times KubeadmControlPlane, by the medians", header: []string{"", "ratio", "target", ""}}
	for _, measure := range controlPlaneMeasures {
		ratio := median(numbers(foo, measure.of)) / median(numbers(kubeadm, measure.of))
		ratios.add(measure.name, fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.1f", measure.target), verdict(ratio, measure.target))
	}
	ratios.write(out)
}

func addControlPlanes(t *table, kind string, runs []controlPlaneCosts) {
	if len(runs) == 0 {
		return
	}
	for _, measure := range controlPlaneMeasures {
		cells := []string{kind, measure.name}
		values := numbers(runs, measure.of)
		for _, value := range append(values, median(values)) {
			cells = append(cells, fmt.Sprintf("%.2f", value))
		}
		t.add(cells...)
	}
	for _, phase := range rollPhases {
		spent := func(c controlPlaneCosts) time.Duration { return c.Phases[phase] }
		t.add(row(kind, "seconds of the rollout in which "+string(phase), durations(runs, spent))...)
	}
	t.add(loads(kind, runs, func(c controlPlaneCosts) float64 { return c.Load })...)
}

func numbers[T any](runs []T, of func(T) float64) []float64 {
	list := make([]float64, 0, len(runs))
	for _, run := range runs {
		list = append(list, of(run))
	}
	return list
}
