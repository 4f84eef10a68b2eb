// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdsnapshot takes snapshots of etcd and keeps them in a bucket: a folder, or S3, Google Cloud Storage or Azure
// Blob Storage.
//
// A snapshot is streamed from one member to a temporary file, and checked there: etcd's own hash at its end, the integrity
// of the database, and that it knows the members that etcd has. Then it is stored, read back and compared. Last, a record is
// written beside it. What has no record, or does not fit it, is no snapshot, so one that was cut off is never taken for
// whole. The names are those that the caller gives: whoever asks again for the same one finds what is there.
//
//	<cluster UID>/<namespace>.<name>/<version>/<occasion>.db    the snapshot, as etcdutl restores it
//	<cluster UID>/<namespace>.<name>/<version>/<occasion>.json  its record
//
// Only the newest of a cluster are kept, as many as the caller says. Nothing is deleted that has no record.
//
// Errors say what failed and why in words that are the same each time, and that hold no secret, so they may be shown. Detail
// returns more, for logs.
//
// Limits: the temporary file needs as much room as the database. The snapshot is not encrypted here; a bucket is to be as
// well guarded as etcd is. What a workload cluster's etcd sends is opened in this process, with etcd's own code; no more
// of it is taken than the caller has room for. A cluster's folder is named by its UID, so snapshots from before it was moved
// are not deleted. Files that were half written when the process was killed, in the bucket or temporary ones, stay if nobody
// asks for the same snapshot again.
package etcdsnapshot
