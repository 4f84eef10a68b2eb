// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"gocloud.dev/gcerrors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	databaseSuffix = ".db"
	recordSuffix   = ".json"
	// recordFormat identifies the records of this package.
	recordFormat = "foo-etcd-snapshot/v1"
	// maxRecord is larger than any record, in bytes. A larger file is something else.
	maxRecord = 64 << 10
)

// Name identifies a snapshot.
type Name struct {
	// UID and Cluster are the UID and the key of the Cluster.
	UID     types.UID
	Cluster client.ObjectKey
	// Version names the folder. It is, for example, the Kubernetes version at the time.
	Version string
	// Occasion of the snapshot, for example before-v1.36.3.
	Occasion string
}

func (n Name) base() string {
	return path.Join(string(n.UID), n.Cluster.Namespace+"."+n.Cluster.Name, n.Version, n.Occasion)
}

func (n Name) database() string { return n.base() + databaseSuffix }
func (n Name) record() string   { return n.base() + recordSuffix }

// check returns an error if a part is missing or would lead to another folder.
func (n Name) check() error {
	for _, part := range []string{string(n.UID), n.Cluster.Namespace, n.Cluster.Name, n.Version, n.Occasion} {
		if part == "" || strings.HasPrefix(part, ".") || strings.ContainsAny(part, "/\\") {
			return refusal("a snapshot needs the UID, namespace and name of its cluster, a version and an occasion, none of them with slashes or leading dots")
		}
	}
	return nil
}

// Snapshot is the record of a snapshot.
type Snapshot struct {
	// Format of the record.
	Format string `json:"format"`
	// Key of the snapshot in its bucket.
	Key string `json:"key"`
	// ClusterUID, Namespace and Cluster identify the cluster.
	ClusterUID types.UID `json:"clusterUID"`
	Namespace  string    `json:"namespace"`
	Cluster    string    `json:"cluster"`
	// Taken is when the snapshot was complete, by the clock of the manager.
	Taken time.Time `json:"taken"`
	// Size of the file in bytes, and its SHA256 in hexadecimal.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Hash of the content, Revision and number of Keys, as `etcdutl snapshot status` shows them.
	Hash     string `json:"hash"`
	Revision int64  `json:"revision"`
	Keys     int    `json:"keys"`
	// Members are the sorted IDs of etcd's members, in hexadecimal.
	Members []string `json:"members"`
	// EtcdVersion is the etcd version of the database's layout. It is empty before etcd 3.6.
	// The snapshot can be restored to etcd of this version or later.
	EtcdVersion string `json:"etcdVersion,omitempty"`
}

// Find returns the snapshot with the given name, and reports whether it exists and is whole. It
// compares only the size, because a record is written only after the snapshot was read back.
func (s *Store) Find(ctx context.Context, name Name) (Snapshot, bool, error) {
	if err := name.check(); err != nil {
		return Snapshot{}, false, s.failed(Storing, err)
	}
	found, ok, err := s.readRecord(ctx, name.record())
	if err != nil || !ok {
		return Snapshot{}, false, err
	}
	attributes, err := s.bucket.Attributes(ctx, found.Key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return Snapshot{}, false, nil
	}
	if err != nil {
		return Snapshot{}, false, s.failed(Storing, err)
	}
	return found, attributes.Size == found.Size, nil
}

// readRecord returns the record at the key, and reports whether there is a valid one.
func (s *Store) readRecord(ctx context.Context, key string) (Snapshot, bool, error) {
	reader, err := s.bucket.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return Snapshot{}, false, nil
	}
	if err != nil {
		return Snapshot{}, false, s.failed(Storing, err)
	}
	content, err := io.ReadAll(io.LimitReader(reader, maxRecord))
	if err := errors.Join(err, reader.Close()); err != nil {
		return Snapshot{}, false, s.failed(Storing, err)
	}
	found, ok := decodeRecord(content)
	return found, ok && found.describes(key), nil
}

// decodeRecord decodes a record. A record that cannot be decoded counts as missing.
func decodeRecord(content []byte) (found Snapshot, ok bool) {
	err := json.Unmarshal(content, &found)
	return found, err == nil
}

// describes reports whether the record at the key belongs to the snapshot beside it.
func (s Snapshot) describes(key string) bool {
	base, ok := strings.CutSuffix(key, recordSuffix)
	return ok && s.Format == recordFormat && s.Key == base+databaseSuffix && strings.HasPrefix(key, string(s.ClusterUID)+"/")
}

func (s *Store) writeRecord(ctx context.Context, name Name, snapshot Snapshot) error {
	content, err := json.MarshalIndent(snapshot, "", "  ")
	if err != nil {
		return s.failed(Storing, err)
	}
	content = append(content, '\n')
	if err := s.write(ctx, name.record(), bytes.NewReader(content), "application/json"); err != nil {
		return err
	}
	return s.compare(ctx, name.record(), digestOf(content))
}
