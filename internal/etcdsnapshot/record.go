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
	// recordFormat marks the records of this package.
	recordFormat = "foo-etcd-snapshot/v1"
	// maxRecord is more than the largest record, in bytes. What is larger is something else.
	maxRecord = 64 << 10
)

// Name says which snapshot is meant.
type Name struct {
	// UID of the Cluster, and its key.
	UID     types.UID
	Cluster client.ObjectKey
	// Version that the folder is named by, for example the Kubernetes version at the time.
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
			return refusal("a snapshot is named by the UID, namespace and name of its cluster, a version and an occasion, all of them without slashes and leading dots")
		}
	}
	return nil
}

// Snapshot is the record of one.
type Snapshot struct {
	// Format of the record.
	Format string `json:"format"`
	// Key of the snapshot in its bucket.
	Key string `json:"key"`
	// ClusterUID, Namespace and Cluster say whose it is.
	ClusterUID types.UID `json:"clusterUID"`
	Namespace  string    `json:"namespace"`
	Cluster    string    `json:"cluster"`
	// Taken is when the snapshot was complete, by the clock of the manager.
	Taken time.Time `json:"taken"`
	// Size of the file in bytes, and SHA256 of it in hexadecimal.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Hash of the content, Revision and number of Keys, as `etcdutl snapshot status` shows them.
	Hash     string `json:"hash"`
	Revision int64  `json:"revision"`
	Keys     int    `json:"keys"`
	// Members of etcd by their IDs in hexadecimal, sorted.
	Members []string `json:"members"`
	// EtcdVersion is the version of etcd that the database is laid out for, and empty before etcd 3.6. An etcd of this
	// version or a later one can be restored from it.
	EtcdVersion string `json:"etcdVersion,omitempty"`
}

// Find returns the snapshot of that name, if it is there and whole: a record is written only once the snapshot was read back,
// so its size is all that is compared here.
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

// readRecord returns the record at the key, if it is one.
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

// decodeRecord returns what a record says. What can not be read is no record, as if it were not there.
func decodeRecord(content []byte) (found Snapshot, ok bool) {
	err := json.Unmarshal(content, &found)
	return found, err == nil
}

// describes reports whether this is the record of the snapshot beside which it lies.
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
