// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// Prune deletes the old snapshots of a cluster. It keeps the newest keep snapshots (at least one),
// and always the one with the given name. It deletes only files that have a record of this package.
func (s *Store) Prune(ctx context.Context, name snapshotjob.Name, keep int) error {
	if err := name.Check(); err != nil {
		return s.failed(Pruning, err)
	}
	snapshots, sizes, err := s.list(ctx, string(name.UID)+"/")
	if err != nil {
		return s.failed(Pruning, err)
	}
	var problems []error
	for _, old := range outdated(snapshots, sizes, name.Database(), keep) {
		problems = append(problems, s.remove(ctx, old))
	}
	if err := errors.Join(problems...); err != nil {
		return s.failed(Pruning, err)
	}
	return nil
}

// outdated returns the snapshots to delete, given the sizes of all files: records without a snapshot,
// because its deletion was interrupted, and all snapshots except the current one and the newest ones, of
// which keep remain in total. It skips files that somebody put in the place of a snapshot.
func outdated(snapshots []snapshotjob.Snapshot, sizes map[string]int64, current string, keep int) []snapshotjob.Snapshot {
	var old, rest []snapshotjob.Snapshot
	kept := 0
	for _, one := range snapshots {
		size, exists := sizes[one.Key]
		switch {
		case !exists:
			rest = append(rest, one)
		case size != one.Size:
		case one.Key == current:
			kept++
		default:
			old = append(old, one)
		}
	}
	slices.SortFunc(old, func(a, b snapshotjob.Snapshot) int {
		return cmp.Or(b.Taken.Compare(a.Taken), cmp.Compare(b.Key, a.Key))
	})
	kept = min(max(keep, 1)-kept, len(old))
	return append(rest, old[kept:]...)
}

// list returns the records under a prefix, and the sizes of all files there.
func (s *Store) list(ctx context.Context, prefix string) (found []snapshotjob.Snapshot, sizes map[string]int64, err error) {
	sizes = map[string]int64{}
	objects := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		sizes[object.Key] = object.Size
	}
	for _, key := range slices.Sorted(maps.Keys(sizes)) {
		if !strings.HasSuffix(key, snapshotjob.RecordSuffix) || sizes[key] > maxRecord {
			continue
		}
		snapshot, ok, err := s.readRecord(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			found = append(found, snapshot)
		}
	}
	return found, sizes, nil
}

// remove deletes a snapshot before its record, so that a later Prune finds the rest of an
// interrupted deletion.
func (s *Store) remove(ctx context.Context, old snapshotjob.Snapshot) error {
	for _, key := range []string{old.Key, strings.TrimSuffix(old.Key, snapshotjob.DatabaseSuffix) + snapshotjob.RecordSuffix} {
		if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
	}
	return nil
}
