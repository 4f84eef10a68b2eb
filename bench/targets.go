// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Benchmarks.
const (
	benchmarkBare                = "Bare"
	benchmarkFoo                 = "Foo"
	benchmarkInMemory            = "InMemory"
	benchmarkMemory              = "Memory"
	benchmarkFooControlPlane     = "ControlPlane/kind=" + kindFooControlPlane
	benchmarkKubeadmControlPlane = "ControlPlane/kind=" + kindKubeadmControlPlane
)

func benchmarkMany(clusters int) string { return fmt.Sprintf("Many/clusters=%d", clusters) }

func benchmarkManyInMemory(clusters int) string {
	return fmt.Sprintf("ManyInMemory/clusters=%d", clusters)
}

func benchmarkPool(machines int) string { return fmt.Sprintf("Pool/machines=%d", machines) }

// metric is a unit of a benchmark.
type metric struct{ benchmark, unit string }

func (m metric) String() string { return m.benchmark + " " + m.unit }

// target is how large a metric may be: in each run, or by the medians as a multiple of another
// metric.
type target struct {
	metric
	most float64
	// times is the other metric; none for a target that is not relative.
	times metric
	// required makes the command fail if the target is missed.
	required bool
}

// targetsOf returns Foo's targets.
func targetsOf(options options) []target {
	kubeadm := metric{benchmarkBare, unitKubeadm}
	list := []target{
		{metric: metric{benchmarkFoo, string(phaseInitialized)}, times: kubeadm, most: 1.1},
		{metric: metric{benchmarkFoo, string(phaseNodes)}, times: kubeadm, most: 3},
		{metric: metric{benchmarkFoo, string(phaseNodes)}, times: metric{benchmarkInMemory, string(phaseNodes)}, most: 1},
		{metric: metric{benchmarkMemory, unitMemory}, most: 900},
	}
	for unit, most := range controlPlaneTargets {
		list = append(list, target{metric: metric{benchmarkFooControlPlane, unit}, times: metric{benchmarkKubeadmControlPlane, unit}, most: most})
	}
	if few, many := slices.Min(options.clusters), slices.Max(options.clusters); few < many {
		list = append(list, target{metric: metric{benchmarkMany(many), unitCPU}, times: metric{benchmarkMany(few), unitCPU}, most: 1.4})
	}
	for _, number := range options.clusters {
		list = append(list, target{
			metric: metric{benchmarkMany(number), string(phaseNodes)}, times: metric{benchmarkManyInMemory(number), string(phaseNodes)}, most: 2.5,
		})
	}
	small, large := slices.Min(options.pools), slices.Max(options.pools)
	for _, size := range options.pools {
		list = append(list, target{metric: metric{benchmarkPool(size), unitSettledWrites}, most: 0, required: true})
	}
	if small < large {
		for _, unit := range unitsPerMachine {
			list = append(list, target{metric: metric{benchmarkPool(large), unit}, times: metric{benchmarkPool(small), unit}, most: 1.3, required: true})
		}
	}
	slices.SortStableFunc(list, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// reached returns the number that is compared with the target, and false if something for it has
// not been measured.
func (r *results) reached(t target) (float64, bool) {
	numbers := r.numbers(t.benchmark, t.unit)
	if t.times == (metric{}) {
		return slices.Max(append(numbers, 0)), len(numbers) > 0
	}
	others := r.numbers(t.times.benchmark, t.times.unit)
	return median(numbers) / median(others), len(numbers) > 0 && len(others) > 0
}

// of returns what the number is a multiple of, if anything.
func (t target) of() string {
	if t.times == (metric{}) {
		return ""
	}
	return "times " + t.times.String()
}

func (r *results) printTargets(out *strings.Builder) {
	table := newTable(out, "Targets", "benchmark", "unit", "is", "at most", "", "")
	for _, target := range r.targets {
		if got, ok := r.reached(target); ok {
			table.row(target.benchmark, target.unit, short(got), short(target.most), verdict(got, target.most), target.of())
		}
	}
	table.end()
}

func verdict(got, most float64) string {
	if got <= most {
		return "met"
	}
	return "missed"
}

// errMissed is wrapped by errors about required targets.
var errMissed = errors.New("a target is missed")

// check returns an error that names the required targets that are missed.
func (r *results) check() error {
	var errs []error
	for _, target := range r.targets {
		if got, ok := r.reached(target); ok && target.required && got > target.most {
			errs = append(errs, fmt.Errorf("%w: %s is %.2f %s, and may be at most %.1f", errMissed, target, got, target.of(), target.most))
		}
	}
	return errors.Join(errs...)
}
