// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// minPage is the smallest disk sector. The size of a database is a multiple of it, plus the hash.
const minPage = 512

const (
	errTruncated = snapshotjob.Refusal("it ends before the hash that etcd sends last: the stream was cut off")
	errHash      = snapshotjob.Refusal("its content does not match the hash that etcd sent")
	errDatabase  = snapshotjob.Refusal("it is not a valid etcd database")
	errTooLarge  = snapshotjob.Refusal("it is larger than the database size that etcd reported")
)

// memberIDs returns the sorted IDs of all members, whether they have started yet or not.
func memberIDs(ctx context.Context, etcd Etcd) ([]string, error) {
	response, err := etcd.MemberList(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(response.Members))
	for _, member := range response.Members {
		ids = append(ids, types.ID(member.GetID()).String())
	}
	slices.Sort(ids)
	return ids, nil
}

// inspect checks a snapshot and describes its content. members are the IDs of etcd's members.
func inspect(path string, members []string) (snapshotjob.Snapshot, error) {
	size, digest, err := checkHash(path)
	if err != nil {
		return snapshotjob.Snapshot{}, err
	}
	status, err := snapshot.NewV3(zap.NewNop()).Status(path)
	if err != nil {
		return snapshotjob.Snapshot{}, errors.Join(errDatabase, err)
	}
	found, err := membersIn(path)
	if err != nil {
		return snapshotjob.Snapshot{}, errors.Join(errDatabase, err)
	}
	if !slices.Equal(found, members) {
		return snapshotjob.Snapshot{}, snapshotjob.Refusal(fmt.Sprintf("it lists %d members (%s), but etcd has %d (%s)",
			len(found), strings.Join(found, ", "), len(members), strings.Join(members, ", ")))
	}
	return snapshotjob.Snapshot{
		Size: size, SHA256: digest,
		Hash: fmt.Sprintf("%x", status.Hash), Revision: status.Revision, Keys: status.TotalKey, Members: found,
	}, nil
}

// checkHash verifies the SHA-256 at the end of a snapshot, and returns the size and hash of the
// whole file.
func checkHash(path string) (int64, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	// The file was opened for reading only, so closing it loses nothing.
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return 0, "", err
	}
	if info.Size()%minPage != sha256.Size || info.Size() == sha256.Size {
		return 0, "", errTruncated
	}
	whole, content := sha256.New(), sha256.New()
	if _, err := io.Copy(io.MultiWriter(whole, content), io.LimitReader(file, info.Size()-sha256.Size)); err != nil {
		return 0, "", err
	}
	sent, err := io.ReadAll(io.TeeReader(file, whole))
	if err != nil {
		return 0, "", err
	}
	if !bytes.Equal(sent, content.Sum(nil)) {
		return 0, "", errHash
	}
	return info.Size(), hex.EncodeToString(whole.Sum(nil)), nil
}

// membersIn returns the sorted IDs of the members that a snapshot lists.
func membersIn(path string) ([]string, error) {
	database, err := bolt.Open(path, fileMode, &bolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	var ids []string
	err = database.View(func(tx *bolt.Tx) error {
		bucket := tx.Bucket(schema.Members.Name())
		if bucket == nil {
			return errDatabase
		}
		return bucket.ForEach(func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	slices.Sort(ids)
	return ids, errors.Join(err, database.Close())
}
