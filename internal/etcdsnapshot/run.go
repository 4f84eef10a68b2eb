// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"errors"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// growth is how many bytes a database may grow between the request for its size and the transfer.
const growth = 64 << 20

const (
	errLearner = snapshotjob.Refusal("the member is still a learner")
	errLeader  = snapshotjob.Refusal("the member sees no leader")
	errCorrupt = snapshotjob.Refusal("the member has raised the alarm CORRUPT")
)

// Run finds the snapshot that is requested, or takes it from the member at an endpoint. Then it
// deletes old snapshots. The error has the details of the problem in the answer.
func Run(ctx context.Context, etcd Etcd, endpoint string, request snapshotjob.Request) (snapshotjob.Answer, error) {
	store, err := Open(ctx, request.URL)
	if err != nil {
		return snapshotjob.Answer{Problem: err.Error()}, err
	}
	answer, err := store.run(ctx, etcd, endpoint, request)
	if err := errors.Join(err, store.Close()); err != nil {
		answer.Problem = err.Error()
		return answer, err
	}
	return answer, nil
}

func (s *Store) run(ctx context.Context, etcd Etcd, endpoint string, request snapshotjob.Request) (snapshotjob.Answer, error) {
	taken, found, err := s.Find(ctx, request.Name)
	// What was taken for an earlier request lacks what was written since.
	if err == nil && (!found || taken.Taken.Before(request.Since)) {
		taken, err = s.takeFrom(ctx, etcd, endpoint, request.Name)
	}
	if err != nil {
		return snapshotjob.Answer{}, err
	}
	return snapshotjob.Answer{Snapshot: &taken}, s.Prune(ctx, request.Name, request.Keep)
}

func (s *Store) takeFrom(ctx context.Context, etcd Etcd, endpoint string, name snapshotjob.Name) (snapshotjob.Snapshot, error) {
	status, err := etcd.Status(ctx, endpoint)
	if err != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Reading, Err: err}
	}
	corrupt := (&etcdserverpb.AlarmMember{MemberID: status.Header.GetMemberId(), Alarm: etcdserverpb.AlarmType_CORRUPT}).String()
	switch {
	case status.IsLearner:
		err = errLearner
	case status.Leader == 0:
		err = errLeader
	case slices.Contains(status.Errors, corrupt):
		err = errCorrupt
	}
	if err != nil {
		return snapshotjob.Snapshot{}, &Error{Stage: Reading, Err: err}
	}
	return s.Take(ctx, etcd, name, status.DbSize+growth)
}
