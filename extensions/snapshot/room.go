// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const (
	// atOnce is how many snapshots are taken at once, so that slow ones leave workers to other jobs.
	atOnce = 2
	// growth is by how many bytes a database may grow between when its size is asked for and when it is sent.
	growth = 64 << 20
	mebi   = 1 << 20
)

// refusal says why a snapshot is not taken now. Its text may be shown.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

const errBusy = refusal("other snapshots are being taken")

// limited is a way to etcd that is open to few at once.
type limited struct {
	etcd  Etcd
	size  int64
	room  *semaphore.Weighted
	turns *semaphore.Weighted
}

// Limited returns a way to etcd on which at most two members are asked for snapshots at once, and only for such whose temporary
// files fit together into a room of so many bytes: a volume that is filled beyond its limit costs the whole Pod. Who comes
// when there is no turn or no room left has to try again; a database that is larger than the room is refused. All tasks of a
// process are to share one.
func Limited(etcd Etcd, room int64) Etcd {
	return &limited{etcd: etcd, size: room, room: semaphore.NewWeighted(room), turns: semaphore.NewWeighted(atOnce)}
}

// WithHealthyEtcdMember implements Etcd.
func (l *limited) WithHealthyEtcdMember(ctx context.Context, cluster client.ObjectKey, do func(context.Context, workload.EtcdMember) error) error {
	if !l.turns.TryAcquire(1) {
		return errBusy
	}
	defer l.turns.Release(1)
	return l.etcd.WithHealthyEtcdMember(ctx, cluster, func(ctx context.Context, member workload.EtcdMember) error {
		need := roomFor(member)
		if need > l.size {
			return refusal(fmt.Sprintf("the database of etcd needs up to %d MiB of room for a temporary file, and there are %d MiB: "+
				"have the runtime extension installed with more (FOO_SNAPSHOT_SIZE_LIMIT)", roundUp(need), l.size/mebi))
		}
		if !l.room.TryAcquire(need) {
			return errBusy
		}
		defer l.room.Release(need)
		return do(ctx, member)
	})
}

// roomFor returns how many bytes a snapshot of a member may have at most.
func roomFor(member workload.EtcdMember) int64 { return member.Member.DatabaseSize + growth }

// roundUp returns how many whole MiB so many bytes are.
func roundUp(bytes int64) int64 { return (bytes + mebi - 1) / mebi }
