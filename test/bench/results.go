// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// results are all results. In JSON, durations are in nanoseconds and memory is in bytes.
type results struct {
	KubernetesVersion string
	CPUs              int
	// Machines of each compared control plane.
	Machines int
	Began    time.Time
	Bare     []bareTimes    `json:",omitempty"`
	Foo      []clusterTimes `json:",omitempty"`
	InMemory []clusterTimes `json:",omitempty"`
	// InMemoryRepeated is how many in-memory clusters did not come up in time and were measured
	// again.
	InMemoryRepeated int          `json:",omitempty"`
	Many             []manyUsage  `json:",omitempty"`
	Memory           *memoryUsage `json:",omitempty"`
	// Control planes of both kinds, measured alternately on the same machines.
	FooControlPlane     []controlPlaneCosts `json:",omitempty"`
	KubeadmControlPlane []controlPlaneCosts `json:",omitempty"`
	// Pools of each size, measured alternately.
	MachinePools []machinePoolCosts `json:",omitempty"`
}

// bareTimes is a bare kubeadm init in an instance.
type bareTimes struct {
	// Load of the machine at the start, as a one-minute average.
	Load float64
	// Order is the time from creating the instance until its user data is done.
	Order time.Duration
	// Kubeadm is the time from the start to the end of kubeadm init.
	Kubeadm time.Duration
}

// clusterTimes holds the times of a cluster since its objects were applied.
type clusterTimes struct {
	Load    float64
	Reached times
}

// end returns when the last phase was reached.
func (c clusterTimes) end() time.Duration {
	var last time.Duration
	for _, reached := range c.Reached {
		last = max(last, reached)
	}
	return last
}

// manyUsage is the cost of several clusters at once.
type manyUsage struct {
	Clusters int
	Load     float64
	// Nodes is the time from applying the first object until the Nodes of all clusters are Ready.
	Nodes time.Duration
	// Available is the time from the same moment until all clusters are available with all their
	// Machines ready.
	Available time.Duration
	// Usage until the Nodes of all clusters are Ready, without memory.
	Usage usage
	// Memory (PSS) once all clusters are available.
	ClusterMemory, ManagementMemory uint64
	// Reached by each cluster.
	Reached []times
}

// cpuPerCluster returns the CPU seconds of one cluster, including its share of the management
// cluster.
func (m manyUsage) cpuPerCluster() float64 {
	return (m.Usage.total(groupClusters).CPU + m.Usage.total(groupManagement).CPU) / float64(m.Clusters)
}

// memoryUsage is the cost of an idle cluster.
type memoryUsage struct {
	// Idle for this long.
	Idle time.Duration
	// Usage at the end of that time; CPU is the CPU time during it.
	Usage usage
}

// controlPlaneCosts is the cost of a control plane from its creation until all its Machines have
// been replaced.
type controlPlaneCosts struct {
	Load float64
	// Created is the time from applying the objects until its Machines are available.
	Created time.Duration
	// Rolled is the time from changing the version until the same number of Machines with it are
	// available and no others are left.
	Rolled time.Duration
	// Phases of the rollout show how much of it is spent waiting for Cluster API.
	Phases rollTimes
	// Requests of the controller to the management cluster and to the control plane itself until
	// then.
	Requests float64
	// CPU seconds of the controller until then.
	CPU float64
	// PSS and RSS of the controller then, in bytes. Another manager runs the same program file as
	// Foo's controller, so its PSS counts half of the loaded file; RSS counts all of it.
	PSS, RSS uint64
}

func newResults(options options) *results {
	return &results{KubernetesVersion: options.kubernetesVersion, CPUs: runtime.NumCPU(), Machines: options.machines, Began: time.Now()}
}

// write prints the tables of the available results, and writes all results to a file if its path is
// not empty.
func (r *results) write(out io.Writer, path string) error {
	if _, err := io.WriteString(out, r.text()); err != nil {
		return err
	}
	if path == "" {
		return nil
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	defer func() { _ = folder.Close() }()
	if err := folder.WriteFile(filepath.Base(path), append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}
