/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cri

import (
	"slices"
	"time"
)

const (
	// rangeGrace is how long a node's pod address range is waited for where it is not known whether one will come.
	rangeGrace = 10 * time.Second

	reasonNoRange = "PodAddressRangePending"

	allocatorProgram = "kube-controller-manager"
	allocatorFlag    = "--allocate-node-cidrs=true"
)

// networkGate decides when the network counts as ready. Pods that start before their node has an address range get addresses
// that are not the cluster's, so it is waited for; but a cluster may have none, and then its nodes must become ready as well. The
// zero value has seen nothing.
type networkGate struct {
	// hasRange is true once the kubelet has told a range.
	hasRange bool
	// asked is when readiness was first asked for.
	asked time.Time
	// allocator is what is known of the program that gives out ranges: it runs here, and does so or does not.
	allocator allocator
}

type allocator int

const (
	allocatorUnknown allocator = iota
	allocatorGives
	allocatorGivesNone
)

// observe learns from a program that is about to run.
func (g *networkGate) observe(program string, args []string) {
	if program != allocatorProgram {
		return
	}
	g.allocator = allocatorGivesNone
	if slices.Contains(args, allocatorFlag) {
		g.allocator = allocatorGives
	}
}

// ready decides.
func (g *networkGate) ready(now time.Time) bool {
	if g.asked.IsZero() {
		g.asked = now
	}
	switch {
	case g.hasRange || g.allocator == allocatorGivesNone:
		return true
	case g.allocator == allocatorGives:
		return false
	}
	return now.Sub(g.asked) >= rangeGrace
}
