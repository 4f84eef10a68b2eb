// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup backs up the volumes of a cluster before its Cluster is deleted, by a Job that users
// supply: it knows their backup tool and their volumes. The Job runs in the workload cluster, and the
// deletion is held until it has succeeded. The clean-up, which deletes volumes, does not begin
// before that.
//
// If the Job does not succeed in time, a setting decides: the deletion is held until somebody
// intervenes, or it continues without the clean-up, so that the volumes stay in the cloud.
//
// Limits: whether a Job that succeeds has backed up anything is up to the Job.
package backup
