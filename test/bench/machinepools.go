// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// machinePoolCosts is the cost of scaling a pool from no machines to all of them, and back to none.
type machinePoolCosts struct {
	Machines int32
	Load     float64
	// Up is the time from requesting the machines until all of them are available, Down the time
	// from requesting none until all are gone.
	Up, Down time.Duration
	// CPU seconds of Foo's controllers and of the fakes for the cloud and for Cluster API.
	CPU float64
	// Requests of Foo's controllers to the management cluster, and how many of them are writes.
	Requests, Writes int64
	// SettledWrites are the writes while the controllers reconciled the unchanged pool with all its
	// machines again.
	SettledWrites int64
}

func (c machinePoolCosts) each(total float64) float64 { return total / float64(c.Machines) }

func (c machinePoolCosts) milliseconds() float64 {
	return c.each(float64((c.Up + c.Down).Milliseconds()))
}

// errMachinePools reports that pools cost more than allowed.
var errMachinePools = errors.New("a pool costs more than allowed")

// measureMachinePools alternates between the sizes. It needs no real machines and creates none.
func measureMachinePools(ctx context.Context, options options, _ *environment, results *results) (err error) {
	progress("starting a kube-apiserver, a fake cloud and Foo's controllers of pools and machines")
	env, err := startPoolEnvironment(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.stop()) }()
	for turn := 1; turn <= options.runs; turn++ {
		for _, size := range options.pools {
			costs, err := env.measure(ctx, options, int32(size))
			if err != nil {
				return fmt.Errorf("a pool of %d, run %d: %w", size, turn, err)
			}
			results.MachinePools = append(results.MachinePools, *costs)
			progress("pool of %d, run %d: up %s, down %s, %.1f CPU seconds, %d requests, %d writes while settled (load %.1f)", size, turn,
				seconds(costs.Up), seconds(costs.Down), costs.CPU, costs.Requests, costs.SettledWrites, costs.Load)
		}
	}
	return results.checkMachinePools()
}

// machinePoolSizes returns the smallest and the largest size that has been measured.
func (r *results) machinePoolSizes() (small, large int32) {
	bySize := func(a, b machinePoolCosts) int { return cmp.Compare(a.Machines, b.Machines) }
	return slices.MinFunc(r.MachinePools, bySize).Machines, slices.MaxFunc(r.MachinePools, bySize).Machines
}

// machinePoolsOf returns the runs of one size.
func (r *results) machinePoolsOf(size int32) []machinePoolCosts {
	return slices.DeleteFunc(slices.Clone(r.MachinePools), func(c machinePoolCosts) bool { return c.Machines != size })
}

// machinePoolMeasures are the compared costs per machine.
var machinePoolMeasures = []struct {
	name string
	of   func(machinePoolCosts) float64
}{
	{"milliseconds", machinePoolCosts.milliseconds},
	{"CPU milliseconds", func(c machinePoolCosts) float64 { return c.each(c.CPU * 1000) }},
	{"API requests", func(c machinePoolCosts) float64 { return c.each(float64(c.Requests)) }},
}

// machinePoolRatio returns the ratio of the cost per machine in the largest pool to that in the
// smallest, by the medians.
func (r *results) machinePoolRatio(of func(machinePoolCosts) float64) float64 {
	small, large := r.machinePoolSizes()
	return median(numbers(r.machinePoolsOf(large), of)) / median(numbers(r.machinePoolsOf(small), of))
}

// checkMachinePools returns an error that names the missed targets.
func (r *results) checkMachinePools() error {
	var errs []error
	for _, measure := range machinePoolMeasures {
		if ratio := r.machinePoolRatio(measure.of); ratio > targetMachinePools {
			errs = append(errs, fmt.Errorf("%w: %s of each machine of the largest are %.2f times those of the smallest, target %.1f",
				errMachinePools, measure.name, ratio, targetMachinePools))
		}
	}
	for _, run := range r.MachinePools {
		if run.SettledWrites > 0 {
			errs = append(errs, fmt.Errorf("%w: %d writes to a pool of %d that is settled, target 0", errMachinePools, run.SettledWrites, run.Machines))
		}
	}
	return errors.Join(errs...)
}
