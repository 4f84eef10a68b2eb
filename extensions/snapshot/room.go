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
	// atOnce is how many snapshots are taken concurrently, so that slow ones leave workers for
	// other jobs.
	atOnce = 2
	// growth is how many bytes a database may grow between the request for its size and the
	// transfer.
	growth = 64 << 20
	mebi   = 1 << 20
)

// refusal is why a snapshot is not taken now. Its text may be shown.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

const errBusy = refusal("other snapshots are being taken")

// limited lets only a few callers use etcd concurrently.
type limited struct {
	etcd  Etcd
	size  int64
	room  *semaphore.Weighted
	turns *semaphore.Weighted
}

// Limited returns an Etcd that runs at most two snapshots concurrently, and only if their temporary
// files fit together into room bytes: filling a volume beyond its limit costs the whole Pod.
// Callers that find no free slot or not enough room must try again. A database that is larger than
// the room is refused. All tasks of a process must share one Limited.
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
			return refusal(fmt.Sprintf("the etcd database needs up to %d MiB for a temporary file, but only %d MiB are available: "+
				"install the runtime extension with more (FOO_SNAPSHOT_SIZE_LIMIT)", roundUp(need), l.size/mebi))
		}
		if !l.room.TryAcquire(need) {
			return errBusy
		}
		defer l.room.Release(need)
		return do(ctx, member)
	})
}

// roomFor returns the maximum size of a member's snapshot in bytes.
func roomFor(member workload.EtcdMember) int64 { return member.Member.DatabaseSize + growth }

// roundUp converts bytes to MiB, rounded up.
func roundUp(bytes int64) int64 { return (bytes + mebi - 1) / mebi }
