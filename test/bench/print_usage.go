// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (r *results) printMany(out *strings.Builder) {
	if len(r.Many) == 0 {
		return
	}
	t := &table{
		title: "Clusters of 1 control plane and 3 workers at once; CPU seconds until all Nodes are Ready, memory (PSS) once all are available",
		header: []string{"clusters", "Nodes Ready s", "available s", "CPU s/cluster", "of it management", "CPU times first",
			"MiB/cluster", "management MiB", "load before"},
	}
	first, last := r.Many[0], r.Many[len(r.Many)-1]
	for _, run := range r.Many {
		number := float64(run.Clusters)
		t.add(fmt.Sprint(run.Clusters), fmt.Sprintf("%.1f", run.Nodes.Seconds()), fmt.Sprintf("%.1f", run.Available.Seconds()),
			fmt.Sprintf("%.2f", run.cpuPerCluster()), fmt.Sprintf("%.2f", run.Usage.total(groupManagement).CPU/number),
			fmt.Sprintf("%.2f", run.cpuPerCluster()/first.cpuPerCluster()),
			fmt.Sprintf("%.0f", inMebibytes(run.ClusterMemory)/number), fmt.Sprintf("%.0f", inMebibytes(run.ManagementMemory)),
			fmt.Sprintf("%.1f", run.Load))
	}
	t.write(out)
	if len(r.Many) > 1 {
		ratio := last.cpuPerCluster() / first.cpuPerCluster()
		fmt.Fprintf(out, "CPU per cluster at %d: %.2f times that at %d, target %.1f: %s\n",
			last.Clusters, ratio, first.Clusters, targetMany, verdict(ratio, targetMany))
	}
	r.printManyKinds(out)
}

// printManyKinds prints which processes used the CPU time.
func (r *results) printManyKinds(out *strings.Builder) {
	t := &table{
		title:  "CPU seconds per cluster by kind of process, with the commands that it has run: foonode kubeadm, a shim crun",
		header: []string{"", ""},
	}
	lines := map[[2]string]map[int]float64{}
	for index, run := range r.Many {
		t.header = append(t.header, fmt.Sprintf("%d at once", run.Clusters))
		for _, kind := range run.Usage {
			key := [2]string{string(kind.Group), kind.Kind}
			if lines[key] == nil {
				lines[key] = map[int]float64{}
			}
			lines[key][index] = kind.CPU / float64(run.Clusters)
		}
	}
	keys := make([][2]string, 0, len(lines))
	for key := range lines {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		cells := key[:]
		for index := range r.Many {
			cells = append(cells, fmt.Sprintf("%.2f", lines[key][index]))
		}
		t.add(cells...)
	}
	t.write(out)
}

func (r *results) printMemory(out *strings.Builder) {
	if r.Memory == nil {
		return
	}
	printKinds(out, "Memory (PSS) of 1 control plane and 3 workers, and the CPU they use when left alone", r.Memory, groupClusters)
	memory := r.Memory.Usage.total(groupClusters).Memory
	fmt.Fprintf(out, "Memory of the cluster: %s, target %s: %s\n",
		mebibytes(memory), mebibytes(targetMemory), verdict(float64(memory), targetMemory))
	printKinds(out, "Memory (PSS) of the management cluster, the controllers and the cloud, and the CPU they use when left alone", r.Memory, groupManagement)
}

func printKinds(out *strings.Builder, title string, memory *memoryUsage, group group) {
	t := &table{title: title, header: []string{"kind of process", "processes", "MiB", "CPU"}}
	kinds := slices.SortedFunc(slices.Values(memory.Usage), func(a, b kindUsage) int { return cmp.Compare(b.Memory, a.Memory) })
	for _, kind := range append(kinds, memory.Usage.total(group)) {
		if kind.Group == group {
			t.add(kind.Kind, fmt.Sprint(kind.Processes), fmt.Sprintf("%.1f", inMebibytes(kind.Memory)),
				fmt.Sprintf("%.3f", kind.CPU/memory.Idle.Seconds()))
		}
	}
	t.write(out)
}
