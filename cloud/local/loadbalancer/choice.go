// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

// health is the result of a health check.
type health int

const (
	// down means that the backend does not accept connections.
	down health = iota
	// accepting means that the backend accepts connections but does not report that it is ready.
	accepting
	// leaving means that the backend is ready but draining.
	leaving
	// ready means that the backend reports that it is ready.
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

// candidates returns the indexes of the backends that a new connection may go to, in the order to
// try them. These are the ready backends; if none is ready, the leaving ones; and if there are none
// of these either, the accepting ones. turn rotates the order.
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

// drained returns the indexes of the backends whose connections should move to another backend:
// those that are not ready, if another one is. If none is ready, disconnecting a client would gain
// nothing.
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
