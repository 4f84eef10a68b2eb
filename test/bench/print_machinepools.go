// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// targetMachinePools is the maximum ratio of the cost per machine in the largest pool to that in
// the smallest.
const targetMachinePools = 1.3

func (r *results) printMachinePools(out *strings.Builder) {
	if len(r.MachinePools) == 0 {
		return
	}
	t := &table{
		title: "A pool from 0 machines to all and back to 0, with a kube-apiserver and a fake cloud; CPU with that of the fakes, requests of Foo alone",
		header: []string{
			"machines", "up s", "down s", "ms/machine", "CPU ms/machine", "requests/machine", "writes/machine", "writes while settled", "load before",
		},
	}
	for _, run := range r.MachinePools {
		t.add(fmt.Sprint(run.Machines), fmt.Sprintf("%.1f", run.Up.Seconds()), fmt.Sprintf("%.1f", run.Down.Seconds()),
			fmt.Sprintf("%.1f", run.milliseconds()), fmt.Sprintf("%.2f", run.each(run.CPU*1000)),
			fmt.Sprintf("%.2f", run.each(float64(run.Requests))), fmt.Sprintf("%.2f", run.each(float64(run.Writes))),
			fmt.Sprint(run.SettledWrites), fmt.Sprintf("%.1f", run.Load))
	}
	t.write(out)
	small, large := r.machinePoolSizes()
	if small == large {
		return
	}
	ratios := &table{
		title:  fmt.Sprintf("Each machine of a pool of %d, times one of %d, by the medians", large, small),
		header: []string{"", "ratio", "target", ""},
	}
	for _, measure := range machinePoolMeasures {
		ratio := r.machinePoolRatio(measure.of)
		ratios.add(measure.name, fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.1f", targetMachinePools), verdict(ratio, targetMachinePools))
	}
	ratios.write(out)
}
