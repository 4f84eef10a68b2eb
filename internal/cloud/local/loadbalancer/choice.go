// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

// health is what a health check found.
type health int

const (
	// down does not accept connections.
	down health = iota
	// accepting accepts connections but does not say that it is ready.
	accepting
	// leaving says that it is ready, but is on its way out.
	leaving
	// ready says that it is ready.
	ready
)

func (h health) String() string {
	switch h {
	case ready:
		return "ready"
	case leaving:
		return "leaving"
	case accepting:
		return "accepting"
	case down:
		return "down"
	}
	return "unknown"
}

// candidates returns the places of the backends that a new connection may go to, in the order to try them: those that
// are ready or, when none is, those that are leaving or, when none is either, those that accept connections; from the
// turn on, round and round.
func candidates(states []health, turn uint) []int {
	for _, wanted := range []health{ready, leaving, accepting} {
		var places []int
		for i, state := range states {
			if state == wanted {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		start := int(turn % uint(len(places)))
		return append(places[start:len(places):len(places)], places[:start]...)
	}
	return nil
}

// drained returns the places of the backends whose connections should go to another: those that are not ready, when
// another is. With none ready, a client gains nothing by being cut off.
func drained(states []health) []int {
	anyReady := false
	var places []int
	for i, state := range states {
		if state == ready {
			anyReady = true
		} else {
			places = append(places, i)
		}
	}
	if !anyReady {
		return nil
	}
	return places
}
