// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

const (
	// folderMode and fileMode keep other users away from files that hold all secrets of a
	// cluster.
	folderMode os.FileMode = 0o700
	fileMode   os.FileMode = 0o600
)

// Store keeps snapshots in a bucket. It is safe for concurrent use.
type Store struct {
	bucket   *blob.Bucket
	location string
	now      func() time.Time
}

// Open opens a bucket by its URL. snapshotjob.Schemes returns the supported schemes. The prefix parameter is a
// folder in the bucket; gocloud.dev/blob defines the other parameters of each scheme. If the folder
// of a file URL does not exist, Open creates it with access for its owner only.
func Open(ctx context.Context, text string) (*Store, error) {
	parsed, err := snapshotjob.ParseURL(text)
	if err != nil {
		return nil, &Error{Stage: Storing, Err: err}
	}
	parameters := parsed.Query()
	if parsed.Scheme == snapshotjob.FolderScheme {
		// Each file is written beside its final place, where a rename is atomic, and has no attribute file.
		parameters.Set("create_dir", "true")
		parameters.Set("no_tmp_dir", "true")
		parameters.Set("metadata", string(fileblob.MetadataDontWrite))
		parameters.Set("dir_file_mode", strconv.FormatUint(uint64(folderMode), 10))
	}
	parameters.Del("prefix")
	if prefix := snapshotjob.Prefix(parsed); prefix != "" {
		parameters.Set("prefix", prefix+"/")
	}
	parsed.RawQuery = parameters.Encode()
	location := snapshotjob.Location(text)
	bucket, err := blob.OpenBucket(ctx, parsed.String())
	if err != nil {
		return nil, &Error{Stage: Storing, Where: location, Err: err}
	}
	return newStore(bucket, location), nil
}

func newStore(bucket *blob.Bucket, location string) *Store {
	return &Store{bucket: bucket, location: location, now: time.Now}
}

// Close ends the connection to the bucket.
func (s *Store) Close() error {
	if err := s.bucket.Close(); err != nil {
		return s.failed(Storing, err)
	}
	return nil
}

func (s *Store) failed(stage Stage, err error) error {
	return &Error{Stage: stage, Where: s.location, Err: err}
}

// write stores all of the content or nothing.
func (s *Store) write(ctx context.Context, key string, content io.Reader, contentType string) error {
	// Closing a writer whose context has ended discards its data.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	writer, err := s.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: contentType,
		BeforeWrite: func(as func(any) bool) error {
			var file *os.File
			if as(&file) {
				return file.Chmod(fileMode)
			}
			return nil
		},
	})
	if err != nil {
		return s.failed(Storing, err)
	}
	if _, err := io.Copy(writer, content); err != nil {
		cancel()
		// Report what went wrong, not that nothing was stored.
		_ = writer.Close()
		return s.failed(Storing, err)
	}
	if err := writer.Close(); err != nil {
		return s.failed(Storing, err)
	}
	return nil
}

// digest reads a stored file and returns its SHA-256 in hexadecimal.
func (s *Store) digest(ctx context.Context, key string) (string, error) {
	reader, err := s.bucket.NewReader(ctx, key, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error {
			var file *os.File
			if as(&file) {
				// Without the sync, the data is read from memory, and would be lost
				// with the machine.
				return file.Sync()
			}
			return nil
		},
	})
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, reader)
	if closed := reader.Close(); err == nil {
		err = closed
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}
