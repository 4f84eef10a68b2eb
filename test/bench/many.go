// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// manyClusters measures several clusters at once, for each given number.
func manyClusters(ctx context.Context, options options, env *environment, results *results) error {
	for _, number := range options.clusters {
		if err := manyRun(ctx, options, env, number, results); err != nil {
			return fmt.Errorf("%d clusters at once: %w", number, err)
		}
	}
	return nil
}

func manyRun(ctx context.Context, options options, env *environment, number int, results *results) (err error) {
	run := manyUsage{Clusters: number, Load: loadAverage()}
	before, err := env.usage()
	if err != nil {
		return err
	}
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	began := time.Now()
	clusters, err := env.bringUp(ctx, fmt.Sprintf("many-%d", number), number)
	if err != nil {
		return err
	}
	if err := env.follow(ctx, clusters, phaseNodes); err != nil {
		return err
	}
	run.Nodes = time.Since(began)
	after, err := env.usage()
	if err != nil {
		return err
	}
	run.Usage = after.since(before)
	if err := env.follow(ctx, clusters, phases...); err != nil {
		return err
	}
	run.Available = time.Since(began)
	for _, cluster := range clusters {
		run.Reached = append(run.Reached, cluster.reached)
	}
	now, err := env.usageWithMemory()
	if err != nil {
		return err
	}
	run.ClusterMemory, run.ManagementMemory = now.total(groupClusters).Memory, now.total(groupManagement).Memory
	results.Many = append(results.Many, run)
	progress("%d clusters at once: all Nodes Ready %s, all available %s, %.1f CPU seconds and %s per cluster (load before %.1f)",
		number, seconds(run.Nodes), seconds(run.Available), run.cpuPerCluster(), mebibytes(run.ClusterMemory/uint64(number)), run.Load)
	return nil
}

// usage returns the resource usage of the environment's processes, without memory.
func (e *environment) usage() (usage, error) {
	processes, err := processesOf(e.program.cmd.Process.Pid)
	return byKind(processes), err
}

func (e *environment) usageWithMemory() (usage, error) {
	processes, err := processesOf(e.program.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	err = readMemory(processes)
	return byKind(processes), err
}
