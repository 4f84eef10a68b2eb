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
	snapshots, err := s.list(ctx, string(name.UID)+"/")
	if err != nil {
		return s.failed(Pruning, err)
	}
	var problems []error
	for _, old := range outdated(snapshots, name.Database(), keep) {
		problems = append(problems, s.remove(ctx, old))
	}
	if err := errors.Join(problems...); err != nil {
		return s.failed(Pruning, err)
	}
	return nil
}

// state is what lies beside a record.
type state string

const (
	// whole is a snapshot of the size in the record.
	whole state = "Whole"
	// gone means that there is no snapshot, because its deletion was interrupted.
	gone state = "Gone"
	// foreign is any other file.
	foreign state = "Foreign"
)

// listed is a record and the state of the file beside it.
type listed struct {
	snapshotjob.Snapshot
	state state
}

// outdated returns the snapshots to delete: records without a snapshot, and all whole snapshots
// except the current one and the newest ones, of which keep remain in total. It skips files that
// somebody put in the place of a snapshot.
func outdated(snapshots []listed, current string, keep int) []snapshotjob.Snapshot {
	var old, rest []snapshotjob.Snapshot
	kept := 0
	for _, one := range snapshots {
		switch {
		case one.state == gone:
			rest = append(rest, one.Snapshot)
		case one.state == whole && one.Key == current:
			kept++
		case one.state == whole:
			old = append(old, one.Snapshot)
		}
	}
	slices.SortFunc(old, func(a, b snapshotjob.Snapshot) int {
		return cmp.Or(b.Taken.Compare(a.Taken), cmp.Compare(b.Key, a.Key))
	})
	kept = min(max(keep, 1)-kept, len(old))
	return append(rest, old[kept:]...)
}

// list returns the records under a prefix.
func (s *Store) list(ctx context.Context, prefix string) ([]listed, error) {
	sizes := map[string]int64{}
	objects := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		sizes[object.Key] = object.Size
	}
	var found []listed
	for _, key := range slices.Sorted(maps.Keys(sizes)) {
		if !strings.HasSuffix(key, snapshotjob.RecordSuffix) || sizes[key] > maxRecord {
			continue
		}
		snapshot, ok, err := s.readRecord(ctx, key)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, listed{Snapshot: snapshot, state: compareSize(sizes, snapshot)})
		}
	}
	return found, nil
}

func compareSize(sizes map[string]int64, snapshot snapshotjob.Snapshot) state {
	size, ok := sizes[snapshot.Key]
	switch {
	case !ok:
		return gone
	case size != snapshot.Size:
		return foreign
	}
	return whole
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
