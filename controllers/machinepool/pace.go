// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// pacePerMember is how long a pool rests between two reconciles, for each member. A reconcile
	// takes time for each member, and each member causes events: without a rest that grows with the
	// pool, its cost would grow with the square of its size.
	pacePerMember = 500 * time.Microsecond
	// paceMax bounds the rest.
	paceMax = 5 * time.Second
)

// pace records when a pool may be reconciled again.
type pace struct {
	until sync.Map
}

// rest returns how long to wait before the next reconcile, or zero.
func (p *pace) rest(key types.NamespacedName, now time.Time) time.Duration {
	recorded, _ := p.until.Load(key)
	until, _ := recorded.(time.Time) // the zero time, if nothing is recorded, has passed
	return max(until.Sub(now), 0)
}

// reconciled sets when a pool may be reconciled again after a successful reconcile. After a failed one,
// the queue's backoff applies, which a rest would reset.
func (p *pace) reconciled(key types.NamespacedName, members int, now time.Time) {
	p.until.Store(key, now.Add(min(time.Duration(members)*pacePerMember, paceMax)))
}

func (p *pace) forget(key types.NamespacedName) { p.until.Delete(key) }
