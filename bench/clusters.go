// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	unitCPU    = "CPU-s/cluster"
	unitMemory = "MiB/cluster"
	unitIdle   = "idle-CPUs"
)

// errSlow is the cause when something takes too long.
var errSlow = errors.New("it takes too long")

// fooRun measures one cluster of Foo from applying its objects until it is available.
func fooRun(ctx context.Context, env *environment, turn int, results *results) error {
	run, err := env.alone(ctx, benchmarkFoo, fmt.Sprintf("foo-%d", turn), fooCluster, phases)
	if run != nil {
		results.add(run)
	}
	return err
}

// alone measures one cluster from applying its objects until it has reached the phases. Without them, the run
// is nil.
func (e *environment) alone(ctx context.Context, benchmark, name string, objectsOf objectsOf, wanted []phase) (run *measurement, err error) {
	run = newMeasurement(benchmark)
	defer func(whole context.Context) { err = errors.Join(err, e.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, errSlow)
	defer cancel()
	clusters, err := e.bringUp(ctx, name, 1, objectsOf)
	if err != nil {
		return nil, err
	}
	if err := e.follow(ctx, clusters, wanted...); err != nil {
		return nil, err
	}
	clusters[0].reached.addTo(run)
	return run, nil
}

// objectsOf returns the objects of a cluster.
type objectsOf func(ctx context.Context, name, kubernetesVersion string) ([]*unstructured.Unstructured, error)

// bringUp applies the objects of a number of clusters.
func (e *environment) bringUp(ctx context.Context, name string, number int, objectsOf objectsOf) ([]*cluster, error) {
	var clusters []*cluster
	for index := range number {
		unique := fmt.Sprintf("%s-%d", name, index+1)
		objects, err := objectsOf(ctx, unique, e.kubernetesVersion)
		if err != nil {
			return nil, err
		}
		made, err := e.apply(ctx, unique, objects)
		if err != nil {
			return nil, err
		}
		clusters = append(clusters, made)
	}
	return clusters, nil
}

// together brings up clusters at once, and adds to the run how long it takes until all of them have
// reached each of the phases.
func (e *environment) together(ctx context.Context, run *measurement, bringUp func() ([]*cluster, error), wanted ...phase) ([]*cluster, error) {
	began := time.Now()
	clusters, err := bringUp()
	if err != nil {
		return nil, err
	}
	for _, one := range wanted {
		if err := e.follow(ctx, clusters, one); err != nil {
			return nil, err
		}
		run.addSeconds(string(one), time.Since(began))
	}
	return clusters, nil
}

// manyRun measures several clusters at once: the time until all of them are up, the CPU time until
// the add-ons of all are Ready, and the memory (PSS) once all are available. An earlier end would leave
// out work that one cluster has yet to do then, and of many only the last.
func manyRun(ctx context.Context, env *environment, number int, results *results) (err error) {
	run := newMeasurement(benchmarkMany(number))
	before, err := env.usage()
	if err != nil {
		return err
	}
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, env.timeout, errSlow)
	defer cancel()
	began := time.Now()
	clusters, err := env.together(ctx, run, func() ([]*cluster, error) {
		return env.bringUp(ctx, fmt.Sprintf("many-%d", number), number, fooCluster)
	}, phaseNodes, phaseDNS, phaseAddOns)
	if err != nil {
		return err
	}
	after, err := env.usage()
	if err != nil {
		return err
	}
	if err := env.follow(ctx, clusters, phases...); err != nil {
		return err
	}
	run.addSeconds(string(phaseAvailable), time.Since(began))
	now, err := env.usageWithMemory()
	if err != nil {
		return err
	}
	results.add(append([]*measurement{run}, manyUsage(run, after.since(before), now, clusters)...)...)
	return nil
}

// manyUsage adds the usage of clusters to their run, and returns a run for each kind of process and
// one for each cluster. The CPU time of a process includes the CPU time of the commands that it has run:
// foonode kubeadm, a shim crun.
func manyUsage(run *measurement, spent, now usage, clusters []*cluster) []*measurement {
	number := float64(len(clusters))
	management := spent.total(groupManagement).CPU / number
	run.add(unitCPU, spent.total(groupClusters).CPU/number+management)
	run.add("management-"+unitCPU, management)
	run.add(unitMemory, inMebibytes(now.total(groupClusters).Memory)/number)
	run.add("management-MiB", inMebibytes(now.total(groupManagement).Memory))
	parts := make([]*measurement, 0, len(spent)+len(clusters))
	for _, kind := range spent {
		part := kind.run(run.Benchmark)
		part.add(unitCPU, kind.CPU/number)
		parts = append(parts, part)
	}
	for _, cluster := range clusters {
		one := &measurement{Benchmark: run.Benchmark + "/each"}
		cluster.reached.addTo(one)
		parts = append(parts, one)
	}
	return parts
}

// memoryOfOne measures the memory (PSS) of one cluster, and its CPU time while idle.
func memoryOfOne(ctx context.Context, env *environment, results *results) (err error) {
	run := newMeasurement(benchmarkMemory)
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, env.timeout, errSlow)
	defer cancel()
	clusters, err := env.bringUp(ctx, "memory", 1, fooCluster)
	if err != nil {
		return err
	}
	if err := env.follow(ctx, clusters, phases...); err != nil {
		return err
	}
	// A cluster is available before the pods of its add-ons have started.
	if err := leave(ctx, env.settle); err != nil {
		return err
	}
	before, err := env.usage()
	if err != nil {
		return err
	}
	if err := leave(ctx, env.idle); err != nil {
		return err
	}
	now, err := env.usageWithMemory()
	if err != nil {
		return err
	}
	results.add(append([]*measurement{run}, memoryUsage(run, now.since(before), env.idle)...)...)
	return nil
}

// leave returns after the duration, or with the cause when the context ends.
func leave(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// memoryUsage adds the usage of an idle cluster to its run, and returns a run for each kind of
// process.
func memoryUsage(run *measurement, now usage, idle time.Duration) []*measurement {
	clusters, management := now.total(groupClusters), now.total(groupManagement)
	run.add(unitMemory, inMebibytes(clusters.Memory))
	run.add(unitIdle, clusters.CPU/idle.Seconds())
	run.add("management-MiB", inMebibytes(management.Memory))
	run.add("management-"+unitIdle, management.CPU/idle.Seconds())
	parts := make([]*measurement, 0, len(now))
	for _, kind := range now {
		part := kind.run(run.Benchmark)
		part.add("processes", float64(kind.Processes))
		part.add("MiB", inMebibytes(kind.Memory))
		part.add(unitIdle, kind.CPU/idle.Seconds())
		parts = append(parts, part)
	}
	return parts
}

// run returns a run of the processes of one kind.
func (k kindUsage) run(benchmark string) *measurement {
	return &measurement{Benchmark: fmt.Sprintf("%s/group=%s/process=%s", benchmark, k.Group, k.Kind)}
}

func inMebibytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

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
