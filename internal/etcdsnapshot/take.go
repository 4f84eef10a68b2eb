// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

const (
	temporaryName = "snapshot" + snapshotjob.DatabaseSuffix
	// partSuffix ends the names of incomplete files in a folder.
	partSuffix = ".tmp"
)

// Etcd is the part of an etcd member's client that this package needs. *clientv3.Client implements
// it.
type Etcd interface {
	// MemberList returns the members of etcd.
	MemberList(ctx context.Context, options ...clientv3.OpOption) (*clientv3.MemberListResponse, error)
	// Status returns the state of the member at an endpoint.
	Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error)
	// SnapshotWithVersion streams a snapshot.
	SnapshotWithVersion(ctx context.Context) (*clientv3.SnapshotResponse, error)
}

// Take takes a snapshot of at most limit bytes and stores it under the name, replacing an existing
// one. On failure it returns an *Error, and an existing snapshot with that name may be lost. Call
// Find first if the snapshot may exist already.
func (s *Store) Take(ctx context.Context, etcd Etcd, name snapshotjob.Name, limit int64) (snapshotjob.Snapshot, error) {
	if err := name.Check(); err != nil {
		return snapshotjob.Snapshot{}, s.failed(Storing, err)
	}
	folder, err := os.MkdirTemp("", "foo-etcd-snapshot-")
	if err != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Keeping, Err: err}
	}
	taken, err := s.takeBy(ctx, etcd, name, filepath.Join(folder, temporaryName), limit)
	if removed := os.RemoveAll(folder); err == nil && removed != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Keeping, Err: removed}
	}
	return taken, err
}

// takeBy takes a snapshot by way of a temporary file at the path, in which it is checked.
func (s *Store) takeBy(ctx context.Context, etcd Etcd, name snapshotjob.Name, path string, limit int64) (snapshotjob.Snapshot, error) {
	members, err := memberIDs(ctx, etcd)
	if err != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Reading, Err: err}
	}
	version, err := download(ctx, etcd, path, limit)
	if err != nil {
		return snapshotjob.Snapshot{}, err
	}
	taken, err := inspect(path, members)
	if err != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Checking, Err: err}
	}
	taken.Format, taken.Key, taken.EtcdVersion, taken.Taken = recordFormat, name.Database(), version, s.now().UTC()
	taken.ClusterUID, taken.Namespace, taken.Cluster = name.UID, name.Cluster.Namespace, name.Cluster.Name
	return taken, s.store(ctx, name, path, taken)
}

// download writes a snapshot of at most limit bytes to a file, and returns the version of the member.
func download(ctx context.Context, etcd Etcd, path string, limit int64) (string, error) {
	// The stream ends with the context, whatever happens to the file.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := etcd.SnapshotWithVersion(ctx)
	if err != nil {
		return "", &Error{Stage: Reading, Err: err}
	}
	source := &source{reader: response.Snapshot}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return "", &Error{Stage: Keeping, Err: errors.Join(err, response.Snapshot.Close())}
	}
	size, err := io.Copy(file, io.LimitReader(source, limit+1))
	err = errors.Join(err, file.Close())
	// Ignore the error: the stream was read to its end, or something else failed before.
	_ = response.Snapshot.Close()
	switch {
	case source.err != nil:
		return "", &Error{Stage: Reading, Err: source.err}
	case err != nil:
		return "", &Error{Stage: Keeping, Err: err}
	case size > limit:
		return "", &Error{Stage: Checking, Err: errTooLarge}
	}
	return response.Version, nil
}

// source records an error of the reader, to tell it from an error of the writer.
type source struct {
	reader io.Reader
	err    error
}

// Read implements io.Reader.
func (s *source) Read(buffer []byte) (int, error) {
	count, err := s.reader.Read(buffer)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return count, err
}

// store uploads the file, compares the stored copy with it, and writes the record last.
func (s *Store) store(ctx context.Context, name snapshotjob.Name, path string, taken snapshotjob.Snapshot) error {
	// An old record would describe the snapshot that is about to be replaced.
	if err := s.bucket.Delete(ctx, name.Record()); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return s.failed(Storing, err)
	}
	if err := s.sweep(ctx, name); err != nil {
		return s.failed(Storing, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return &Error{Stage: Keeping, Err: err}
	}
	err = s.write(ctx, name.Database(), file, "application/octet-stream")
	// The file was opened for reading only, so closing it loses nothing.
	_ = file.Close()
	if err != nil {
		return err
	}
	if err := s.compare(ctx, name.Database(), taken.SHA256); err != nil {
		return err
	}
	return s.writeRecord(ctx, name, taken)
}

// sweep deletes unfinished files of the same snapshot that a killed Job left in a folder.
func (s *Store) sweep(ctx context.Context, name snapshotjob.Name) error {
	for _, final := range []string{name.Database(), name.Record()} {
		objects := s.bucket.List(&blob.ListOptions{Prefix: final + "."})
		for {
			object, err := objects.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if !strings.HasSuffix(object.Key, partSuffix) {
				continue
			}
			if err := s.bucket.Delete(ctx, object.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
				return err
			}
		}
	}
	return nil
}

// compare reads a stored file back and returns an error if its digest is not want.
func (s *Store) compare(ctx context.Context, key, want string) error {
	got, err := s.digest(ctx, key)
	if err != nil {
		return s.failed(Storing, err)
	}
	if got != want {
		return s.failed(Storing, snapshotjob.Refusal("the stored copy differs from what was written"))
	}
	return nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
