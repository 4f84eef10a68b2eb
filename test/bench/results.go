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

// results are all that has been measured. Durations are in nanoseconds in JSON, memory is in bytes.
type results struct {
	KubernetesVersion string
	CPUs              int
	// Machines of each control plane that is compared.
	Machines int
	Began    time.Time
	Bare     []bareTimes    `json:",omitempty"`
	Foo      []clusterTimes `json:",omitempty"`
	InMemory []clusterTimes `json:",omitempty"`
	// InMemoryRepeated is how many of its clusters did not come up in time and were measured once more.
	InMemoryRepeated int          `json:",omitempty"`
	Many             []manyUsage  `json:",omitempty"`
	Memory           *memoryUsage `json:",omitempty"`
	// Control planes of both kinds, by turns on the same machines.
	FooControlPlane     []controlPlaneCosts `json:",omitempty"`
	KubeadmControlPlane []controlPlaneCosts `json:",omitempty"`
	// Pools of each size, by turns.
	MachinePools []machinePoolCosts `json:",omitempty"`
}

// bareTimes is a bare kubeadm init in an instance.
type bareTimes struct {
	// Load of the machine when it began, the average of a minute.
	Load float64
	// Order is from ordering the instance until its user data is done.
	Order time.Duration
	// Kubeadm is from the start of kubeadm init to its end.
	Kubeadm time.Duration
}

// clusterTimes is a cluster from applying its objects.
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

// manyUsage is what clusters at once have taken.
type manyUsage struct {
	Clusters int
	Load     float64
	// Nodes is from applying the first object until the Nodes of all clusters are Ready.
	Nodes time.Duration
	// Available is from the same moment until all clusters are available with all their Machines ready.
	Available time.Duration
	// Usage until the Nodes of all clusters are Ready, without memory.
	Usage usage
	// Memory (PSS) once all clusters are available.
	ClusterMemory, ManagementMemory uint64
	// Reached by each cluster.
	Reached []times
}

// cpuPerCluster returns the CPU seconds of one cluster, with its share of the management's.
func (m manyUsage) cpuPerCluster() float64 {
	return (m.Usage.total(groupClusters).CPU + m.Usage.total(groupManagement).CPU) / float64(m.Clusters)
}

// memoryUsage is what a cluster needs that nobody uses.
type memoryUsage struct {
	// Left alone for this long.
	Idle time.Duration
	// Usage at the end of that time; CPU is what was used during it.
	Usage usage
}

// controlPlaneCosts are what a control plane has taken, from nothing until all of them were replaced.
type controlPlaneCosts struct {
	Load float64
	// Created is from applying the objects until its Machines are available.
	Created time.Duration
	// Rolled is from changing the version until as many Machines of it are available, and nothing else is left.
	Rolled time.Duration
	// Phases of the rollout, which show how much of it is spent waiting for Cluster API.
	Phases rollTimes
	// Requests that the controller made, to the management cluster and to the control plane itself, until then.
	Requests float64
	// CPU seconds of the controller until then.
	CPU float64
	// PSS and RSS of the controller then, in bytes. Foo's program file is also that of another manager, so its PSS counts
	// half of what is loaded of it; RSS counts all.
	PSS, RSS uint64
}

func newResults(options options) *results {
	return &results{KubernetesVersion: options.kubernetesVersion, CPUs: runtime.NumCPU(), Machines: options.machines, Began: time.Now()}
}

// write prints the tables of what there is, and writes all to a file if its path is not empty.
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
