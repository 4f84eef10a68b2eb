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

package machinepool

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// decision is what later decisions depend on. The status of the FooMachinePool holds it, for a process that begins.
type decision struct {
	// replacing says whether members were being replaced.
	replacing bool
	// desired is the size that the pool was to have.
	desired  *int32
	failures infrav1.FailedReplacements
}

// decisionIn reads the last decision from the status. While the cloud can not be asked the condition is Unknown: what was being
// replaced before may still be.
func decisionIn(pool *infrav1.FooMachinePool) decision {
	rollingOut := conditions.Get(pool, infrav1.FooMachinePoolRollingOutCondition)
	return decision{
		replacing: rollingOut != nil && rollingOut.Status != metav1.ConditionFalse,
		desired:   pool.Status.DesiredReplicas,
		failures:  pool.Status.FailedReplacements,
	}
}

// expected remembers whose deletion was asked for until the cache shows it. The cache may lag behind, and the same decision made
// again from what it shows would take one member more.
type expected struct {
	lock  sync.Mutex
	pools map[types.NamespacedName]map[types.UID]struct{}
	// decisions are the last of each FooMachinePool, of which the cache may not show the status yet.
	decisions map[types.UID]decision
}

func newExpected() *expected {
	return &expected{pools: map[types.NamespacedName]map[types.UID]struct{}{}, decisions: map[types.UID]decision{}}
}

// decided remembers what was written.
func (e *expected) decided(pool *infrav1.FooMachinePool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if !pool.DeletionTimestamp.IsZero() {
		delete(e.decisions, pool.UID)
		return
	}
	e.decisions[pool.UID] = decisionIn(pool)
}

// last is the last decision about a FooMachinePool.
func (e *expected) last(pool *infrav1.FooMachinePool) decision {
	e.lock.Lock()
	defer e.lock.Unlock()
	if d, ok := e.decisions[pool.UID]; ok {
		return d
	}
	return decisionIn(pool)
}

func uidOf(m member) types.UID {
	switch {
	case m.fooMachine != nil:
		return m.fooMachine.UID
	case m.machine != nil:
		return m.machine.UID
	default:
		return ""
	}
}

func (e *expected) add(s *scope, m member) {
	e.lock.Lock()
	defer e.lock.Unlock()
	key := client.ObjectKeyFromObject(s.pool)
	if e.pools[key] == nil {
		e.pools[key] = map[types.UID]struct{}{}
	}
	e.pools[key][uidOf(m)] = struct{}{}
}

// known reports whether this process has decided about members of the pool before. The first time, the cache may be older than
// what another process did.
func (e *expected) known(s *scope) bool {
	e.lock.Lock()
	defer e.lock.Unlock()
	_, ok := e.pools[client.ObjectKeyFromObject(s.pool)]
	return ok
}

// mark marks the members whose deletion was asked for, and forgets those that show it or are gone.
func (e *expected) mark(s *scope) {
	e.lock.Lock()
	defer e.lock.Unlock()
	asked := e.pools[client.ObjectKeyFromObject(s.pool)]
	if len(asked) == 0 {
		return
	}
	still := map[types.UID]struct{}{}
	for i := range s.members {
		m := &s.members[i]
		if _, ok := asked[uidOf(*m)]; ok && !m.leaving() {
			m.asked = true
			still[uidOf(*m)] = struct{}{}
		}
	}
	e.pools[client.ObjectKeyFromObject(s.pool)] = still
}

func (e *expected) forget(key types.NamespacedName) {
	e.lock.Lock()
	defer e.lock.Unlock()
	delete(e.pools, key)
}
