// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdsnapshot takes snapshots of etcd and stores them in a bucket: a folder, S3, Google
// Cloud Storage or Azure Blob Storage. Only the program of the snapshot Job links it.
//
// A snapshot is streamed from one member to a temporary file and checked there: the hash that etcd
// appends, the integrity of the database, and that the database lists the members that etcd has. It
// is then stored, read back and compared. Finally, a record is written beside it. A file without a
// matching record does not count as a snapshot, so a truncated one is never mistaken for a complete
// one. The caller chooses the names. Asking again for the same name finds the existing snapshot.
//
//	<cluster UID>/<namespace>.<name>/<version>/<occasion>.db    the snapshot, as etcdutl restores it
//	<cluster UID>/<namespace>.<name>/<version>/<occasion>.json  its record
//
// Prune keeps only the newest snapshots of a cluster, as many as the caller wants. It deletes
// nothing that has no record.
//
// Error messages state what failed and why. They are always the same for the same failure and hold
// no secrets, so they may be shown. Detail returns more, for logs.
//
// Limits: the temporary file needs as much room as the database. Snapshots are not encrypted here,
// so the bucket must be guarded as well as etcd is. Take accepts no more data than the caller has
// room for. A cluster's folder is named after its UID, so snapshots from before a move are not
// deleted. If the process is killed, half-written files in a folder stay until the same snapshot is
// requested again.
package etcdsnapshot
