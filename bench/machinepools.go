// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Units of a pool that is scaled from no machines to all of them, and back to none.
const (
	// unitUp is the time from requesting the machines until all of them are available, and unitDown
	// that from requesting none until all are gone.
	unitUp   = "up-s"
	unitDown = "down-s"
	unitEach = "ms/machine"
	// unitEachCPU is the CPU time of Foo's controllers and of the fakes for the cloud and for
	// Cluster API.
	unitEachCPU = "CPU-ms/machine"
	// unitEachRequest are the requests of Foo's controllers to the management cluster, and
	// unitEachWrite are those that write.
	unitEachRequest = "API-requests/machine"
	unitEachWrite   = "API-writes/machine"
	// unitSettledWrites are the writes while the controllers reconciled the unchanged pool with all
	// its machines again.
	unitSettledWrites = "settled-writes"
)

// unitsPerMachine are the costs that must not grow with the size of the pool.
var unitsPerMachine = []string{unitEach, unitEachCPU, unitEachRequest}

// poolCosts is the cost of a pool of some machines.
type poolCosts struct {
	up, down                        time.Duration
	cpu                             float64
	requests, writes, settledWrites int64
}

func (c poolCosts) addTo(run *measurement, machines int) {
	run.addSeconds(unitUp, c.up)
	run.addSeconds(unitDown, c.down)
	for _, one := range []value{
		{unitEach, float64((c.up + c.down).Milliseconds())}, {unitEachCPU, c.cpu * 1000},
		{unitEachRequest, float64(c.requests)}, {unitEachWrite, float64(c.writes)},
	} {
		run.add(one.Unit, one.Number/float64(machines))
	}
	run.add(unitSettledWrites, float64(c.settledWrites))
}

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
			run := newMeasurement(benchmarkPool(size))
			costs, err := env.measure(ctx, options, int32(size))
			if err != nil {
				return fmt.Errorf("a pool of %d, run %d: %w", size, turn, err)
			}
			costs.addTo(run, size)
			results.add(run)
		}
	}
	return nil
}
