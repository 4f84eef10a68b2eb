// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshotjob is what the runtime extension and the Job that takes an etcd snapshot agree
// on: the request, the answer, where the Job finds its files, the URLs of buckets, and the names and
// records of snapshots.
//
// The extension passes a Request as the only argument of the Job's program. The program writes an
// Answer to its termination message, where the extension reads it. The extension needs no library of
// an object store and none of etcd.
package snapshotjob
