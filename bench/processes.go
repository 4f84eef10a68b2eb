// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/prometheus/procfs"
)

// group is the group that a process belongs to.
type group string

const (
	// groupClusters are the instances of the clusters with all their processes, and the load
	// balancers.
	groupClusters group = "clusters"
	// groupManagement is everything else: the management API server, the controllers and the cloud.
	groupManagement group = "management"
)

// process is one process of the environment.
type process struct {
	pid, parent int
	args        []string
	// cpu in seconds, including ended children.
	cpu float64
	// pss in bytes: its private memory and its proportional share of shared memory; 0 if it has not
	// been read.
	pss uint64
	// rss in bytes: like pss, but with all shared memory.
	rss   uint64
	group group
	kind  string
}

// processesOf reads all processes that descend from one.
func processesOf(root int) ([]process, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	var found []process
	for _, proc := range all {
		one, err := readProcess(proc)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", proc.PID, err)
		}
		found = append(found, one)
	}
	return classify(found, root), nil
}

func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

func readProcess(proc procfs.Proc) (process, error) {
	stat, err := proc.Stat()
	if err != nil {
		return process{}, err
	}
	args, err := proc.CmdLine()
	if err != nil {
		return process{}, err
	}
	return process{pid: proc.PID, parent: stat.PPID, args: args, cpu: cpuSeconds(stat)}, nil
}

// ticks of the kernel's clock per second in user space: the same on every machine that Go runs on.
const ticks = 100

func cpuSeconds(stat procfs.ProcStat) float64 {
	return (float64(stat.UTime) + float64(stat.STime) + float64(stat.CUTime) + float64(stat.CSTime)) / ticks
}

// classify returns the processes that descend from root, with their groups. Instances and load
// balancers descend from the cloud.
func classify(all []process, root int) []process {
	children := map[int][]process{}
	for _, one := range all {
		children[one.parent] = append(children[one.parent], one)
	}
	var found []process
	var walk func(parent process)
	walk = func(parent process) {
		for _, child := range children[parent.pid] {
			child.kind = kindOf(child.args)
			child.group = parent.group
			if parent.kind == kindCloud {
				child.group = groupClusters
			}
			found = append(found, child)
			walk(child)
		}
	}
	walk(process{pid: root, group: groupManagement})
	return found
}

// Kinds of processes that are not named after their program.
const (
	kindCloud        = "foocloud"
	kindLoadBalancer = "load-balancer"
)

func kindOf(args []string) string {
	if len(args) == 0 {
		return "(ending)"
	}
	kind := filepath.Base(args[0])
	if kind == kindCloud && len(args) > 1 && args[1] == "serve-load-balancer" {
		return kindLoadBalancer
	}
	return kind
}

// readMemory adds the memory of each process, which is more expensive to read than the rest.
func readMemory(processes []process) error {
	for index := range processes {
		one := &processes[index]
		proc, err := procfs.NewProc(one.pid)
		if err == nil {
			var rollup procfs.ProcSMapsRollup
			rollup, err = proc.ProcSMapsRollup()
			one.pss, one.rss = rollup.Pss, rollup.Rss
		}
		if err != nil && !gone(err) {
			return fmt.Errorf("memory of process %d: %w", one.pid, err)
		}
	}
	return nil
}

// loadAverage of the last minute; 0 if the machine does not report it.
func loadAverage() float64 {
	machine, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	load, err := machine.LoadAvg()
	if err != nil {
		return 0
	}
	return load.Load1
}
