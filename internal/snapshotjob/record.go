// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshotjob

import (
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Suffixes of the files in a bucket.
const (
	DatabaseSuffix = ".db"
	RecordSuffix   = ".json"
)

// Name identifies a snapshot.
type Name struct {
	// UID and Cluster are the UID and the key of the Cluster.
	UID     types.UID            `json:"uid"`
	Cluster types.NamespacedName `json:"cluster"`
	// Version names the folder. It is, for example, the Kubernetes version at the time.
	Version string `json:"version"`
	// Occasion of the snapshot, for example before-v1.36.3.
	Occasion string `json:"occasion"`
}

func (n Name) base() string {
	return path.Join(string(n.UID), n.Cluster.Namespace+"."+n.Cluster.Name, n.Version, n.Occasion)
}

// Database returns the key of the snapshot in its bucket.
func (n Name) Database() string { return n.base() + DatabaseSuffix }

// Record returns the key of the snapshot's record in its bucket.
func (n Name) Record() string { return n.base() + RecordSuffix }

// Check returns an error if a part is missing or would lead to another folder.
func (n Name) Check() error {
	for _, part := range []string{string(n.UID), n.Cluster.Namespace, n.Cluster.Name, n.Version, n.Occasion} {
		if part == "" || strings.HasPrefix(part, ".") || strings.ContainsAny(part, "/\\") {
			return Refusal("a snapshot needs the UID, namespace and name of its cluster, a version and an occasion, none of them with slashes or leading dots")
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
	// Taken is when the snapshot was complete, by the clock of etcd's machine.
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
