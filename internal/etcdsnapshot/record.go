// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"gocloud.dev/gcerrors"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

const (
	// recordFormat identifies the records of this package.
	recordFormat = "foo-etcd-snapshot/v1"
	// maxRecord is larger than any record, in bytes. A larger file is something else.
	maxRecord = 64 << 10
)

// Find returns the snapshot with the given name, and reports whether it exists and is whole. It
// compares only the size, because a record is written only after the snapshot was read back.
func (s *Store) Find(ctx context.Context, name snapshotjob.Name) (snapshotjob.Snapshot, bool, error) {
	if err := name.Check(); err != nil {
		return snapshotjob.Snapshot{}, false, s.failed(Storing, err)
	}
	found, ok, err := s.readRecord(ctx, name.Record())
	if err != nil || !ok {
		return snapshotjob.Snapshot{}, false, err
	}
	attributes, err := s.bucket.Attributes(ctx, found.Key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return snapshotjob.Snapshot{}, false, nil
	}
	if err != nil {
		return snapshotjob.Snapshot{}, false, s.failed(Storing, err)
	}
	return found, attributes.Size == found.Size, nil
}

// readRecord returns the record at the key, and reports whether there is a valid one. A record that
// cannot be decoded counts as missing.
func (s *Store) readRecord(ctx context.Context, key string) (snapshotjob.Snapshot, bool, error) {
	reader, err := s.bucket.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return snapshotjob.Snapshot{}, false, nil
	}
	if err != nil {
		return snapshotjob.Snapshot{}, false, s.failed(Storing, err)
	}
	content, err := io.ReadAll(io.LimitReader(reader, maxRecord))
	if err := errors.Join(err, reader.Close()); err != nil {
		return snapshotjob.Snapshot{}, false, s.failed(Storing, err)
	}
	var found snapshotjob.Snapshot
	decoded := json.Unmarshal(content, &found) == nil
	return found, decoded && describes(found, key), nil
}

// describes reports whether the record at the key belongs to the snapshot beside it.
func describes(record snapshotjob.Snapshot, key string) bool {
	base, ok := strings.CutSuffix(key, snapshotjob.RecordSuffix)
	return ok && record.Format == recordFormat && record.Key == base+snapshotjob.DatabaseSuffix && strings.HasPrefix(key, string(record.ClusterUID)+"/")
}

func (s *Store) writeRecord(ctx context.Context, name snapshotjob.Name, snapshot snapshotjob.Snapshot) error {
	content, err := json.MarshalIndent(snapshot, "", "  ")
	if err != nil {
		return s.failed(Storing, err)
	}
	content = append(content, '\n')
	if err := s.write(ctx, name.Record(), bytes.NewReader(content), "application/json"); err != nil {
		return err
	}
	return s.compare(ctx, name.Record(), digestOf(content))
}
