// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/annotations"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

// memoryAnnotation holds the memory of a FooMachinePool, so that it survives a restart, the loss of
// the status and a move.
const memoryAnnotation = "infrastructure.cluster.x-k8s.io/pool-memory"

// memory is what a decision needs to know about earlier ones and cannot see in the cluster or the
// cloud.
type memory struct {
	// Replicas is the size to keep while members of a pool that somebody else scales are replaced,
	// because replacements temporarily change the pool's size in the cloud.
	Replicas *int32 `json:"replicas,omitempty"`
	// Failures counts the consecutive members that did not join and were replaced.
	Failures infrav1.FailedReplacements `json:"failures,omitempty,omitzero"`
	// Counted names those of them that still exist, so that none counts twice.
	Counted []string `json:"counted,omitempty"`
}

// memoryIn reads the memory from the annotation. An unreadable annotation counts as no memory.
func memoryIn(pool *infrav1.FooMachinePool) memory {
	var m memory
	if err := json.Unmarshal([]byte(pool.Annotations[memoryAnnotation]), &m); err != nil {
		return memory{}
	}
	return m
}

// with returns the memory with the failures to join of the victims added.
func (m memory) with(victims []victim, revision string, now time.Time) memory {
	for _, v := range victims {
		if v.failure == "" || slices.Contains(m.Counted, v.name) {
			continue
		}
		m.Failures = infrav1.FailedReplacements{
			Revision: revision, Count: m.Failures.Count + 1, LastTime: metav1.NewTime(now.Truncate(time.Second)), Message: v.name + " " + v.failure,
		}
		m.Counted = append(slices.Clone(m.Counted), v.name)
	}
	return m
}

// stillCounted returns the names of the counted members that exist and are not on their way out.
func (m memory) stillCounted(members []member) []string {
	var names []string
	for _, one := range members {
		if slices.Contains(m.Counted, one.name) && !one.leaving() {
			names = append(names, one.name)
		}
	}
	return names
}

// encode returns the value of the annotation; empty if there is nothing to remember.
func (m memory) encode() (string, error) {
	if equality.Semantic.DeepEqual(m, memory{}) {
		return "", nil
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding the memory of the pool: %w", err)
	}
	return string(encoded), nil
}

func setMemory(pool client.Object, encoded string) {
	delete(pool.GetAnnotations(), memoryAnnotation)
	if encoded != "" {
		annotations.AddAnnotations(pool, map[string]string{memoryAnnotation: encoded})
	}
}

// remember writes the memory before anything that depends on it is done. The write fails if the
// pool has changed since it was read, so no decision is based on an old memory.
func (r *reconciler) remember(ctx context.Context, s *scope, m memory) error {
	if equality.Semantic.DeepEqual(s.memory, m) {
		return nil
	}
	encoded, err := m.encode()
	if err != nil {
		return err
	}
	if err := s.report.Change(ctx, func(pool report.Object) { setMemory(pool, encoded) }); err != nil {
		return fmt.Errorf("writing the memory of the pool: %w", err)
	}
	s.memory = m
	r.memories.store(s.pool, m)
	return nil
}

// memories holds what this process knows before its cache does: the memory of each pool as it was
// last written, and the members whose requested deletion the cache may not show yet.
type memories struct {
	lock  sync.Mutex
	pools map[types.NamespacedName]*poolMemory
}

type poolMemory struct {
	pool types.UID
	// memory is nil until this process has written it.
	memory *memory
	// deleted holds the Machines and FooMachines whose deletion was requested.
	deleted map[types.UID]struct{}
}

func newMemories() *memories { return &memories{pools: map[types.NamespacedName]*poolMemory{}} }

// of returns what is known about a pool; nil if nothing is. Callers hold the lock.
func (m *memories) of(pool *infrav1.FooMachinePool) *poolMemory {
	if known, ok := m.pools[client.ObjectKeyFromObject(pool)]; ok && known.pool == pool.UID {
		return known
	}
	return nil
}

// recall returns the memory of a pool.
func (m *memories) recall(pool *infrav1.FooMachinePool) memory {
	m.lock.Lock()
	defer m.lock.Unlock()
	if known := m.of(pool); known != nil && known.memory != nil {
		return *known.memory
	}
	return memoryIn(pool)
}

// known reports whether this process has written or deleted anything for the pool, or has seen in a
// live read what another process deleted. Until then, the cache may be older than such a deletion.
func (m *memories) known(pool *infrav1.FooMachinePool) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.of(pool) != nil
}

func (m *memories) store(pool *infrav1.FooMachinePool, what memory) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.entry(pool).memory = &what
}

// expectDeletion records that the deletion of an object of the pool was requested.
func (m *memories) expectDeletion(pool *infrav1.FooMachinePool, object types.UID) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.entry(pool).deleted[object] = struct{}{}
}

// entry returns what is known about a pool, and creates the entry if there is none. Callers hold
// the lock.
func (m *memories) entry(pool *infrav1.FooMachinePool) *poolMemory {
	known := m.of(pool)
	if known == nil {
		known = &poolMemory{pool: pool.UID, deleted: map[types.UID]struct{}{}}
		m.pools[client.ObjectKeyFromObject(pool)] = known
	}
	return known
}

// mark marks the members whose deletion was requested, and forgets those that show it or are gone.
func (m *memories) mark(pool *infrav1.FooMachinePool, members []member) {
	m.lock.Lock()
	defer m.lock.Unlock()
	known := m.of(pool)
	if known == nil {
		return
	}
	still := map[types.UID]struct{}{}
	for i := range members {
		one := &members[i]
		if one.leaving() {
			continue
		}
		for _, object := range one.objects() {
			if _, requested := known.deleted[object.GetUID()]; requested {
				one.asked = true
				still[object.GetUID()] = struct{}{}
			}
		}
	}
	known.deleted = still
}

// sawLeaving records which Machines and FooMachines a live read showed being deleted: the cache may
// not show it yet. Any other object of such a member stays until it is deleted as well, and if it was
// recorded too, nobody would ever delete it.
func (m *memories) sawLeaving(pool *infrav1.FooMachinePool, members []member) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, one := range members {
		for _, object := range one.objects() {
			if !object.GetDeletionTimestamp().IsZero() {
				m.entry(pool).deleted[object.GetUID()] = struct{}{}
			}
		}
	}
}

func (m *memories) forget(key types.NamespacedName) {
	m.lock.Lock()
	defer m.lock.Unlock()
	delete(m.pools, key)
}
