// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// kindUsage is the usage of all processes of one kind.
type kindUsage struct {
	Group     group
	Kind      string
	Processes int
	// CPU seconds, including ended child processes.
	CPU float64
	// Memory in bytes; 0 if it has not been read.
	Memory uint64
}

// usage is the usage of the processes by kind.
type usage []kindUsage

// byKind returns the usage of each kind of process, sorted by group and kind.
func byKind(processes []process) usage {
	type key struct {
		group group
		kind  string
	}
	kinds := map[key]*kindUsage{}
	for _, one := range processes {
		at := key{one.group, one.kind}
		if kinds[at] == nil {
			kinds[at] = &kindUsage{Group: one.group, Kind: one.kind}
		}
		kinds[at].Processes++
		kinds[at].CPU += one.cpu
		kinds[at].Memory += one.pss
	}
	list := make(usage, 0, len(kinds))
	for _, kind := range kinds {
		list = append(list, *kind)
	}
	slices.SortFunc(list, func(a, b kindUsage) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// since returns the usage with only the CPU time since an earlier usage.
func (u usage) since(before usage) usage {
	left := slices.Clone(u)
	for _, earlier := range before {
		for index := range left {
			if left[index].Group == earlier.Group && left[index].Kind == earlier.Kind {
				left[index].CPU -= earlier.CPU
			}
		}
	}
	return left
}

// total adds up the usage of all kinds in a group.
func (u usage) total(group group) kindUsage {
	sum := kindUsage{Group: group, Kind: "all"}
	for _, kind := range u {
		if kind.Group == group {
			sum.Processes += kind.Processes
			sum.CPU += kind.CPU
			sum.Memory += kind.Memory
		}
	}
	return sum
}
