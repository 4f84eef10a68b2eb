// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// patience is how long to wait before the next try. People must fix what a snapshot waits for, a
// bucket or a cluster, and a try may move gigabytes.
const patience = 30 * time.Second

// turn is how long to wait before the next try while other snapshots are taken. A deletion waits
// only for a limited time.
const turn = time.Second

// findTimeout bounds the search for a snapshot. Many searches may run concurrently, and a bucket
// that does not answer must not keep workers from other jobs.
const findTimeout = 30 * time.Second

// Etcd connects to the etcd of workload clusters. *workload.Clusters implements it.
type Etcd interface {
	// WithHealthyEtcdMember runs do with a client of one healthy member.
	WithHealthyEtcdMember(ctx context.Context, cluster client.ObjectKey, do func(context.Context, workload.EtcdMember) error) error
}

// taker finds the snapshot with a name, or takes it.
type taker struct {
	etcd Etcd
}

// result is the result of a try.
type result struct {
	// stored is the outcome if there is a snapshot now.
	stored hooks.Outcome
	// problem is why there is no snapshot. It is empty if there is one.
	problem string
	// unreachable means that there never will be one: etcd cannot be reached in its current
	// setup.
	unreachable bool
	// external means that the control plane does not run etcd.
	external bool
	// busy means that other snapshots must be taken first.
	busy bool
}

// take returns the result of a try. It logs the problem in more detail.
func (t taker) take(ctx context.Context, job hooks.Job, timeout time.Duration, name etcdsnapshot.Name) result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	outcome, err := t.store(ctx, job, name)
	if err == nil {
		return result{stored: outcome}
	}
	ctrl.LoggerFrom(ctx).Info("Could not take an etcd snapshot", "detail", etcdsnapshot.Detail(err))
	return explain(job.Key(), err)
}

// store finds the snapshot in the bucket, or takes it.
func (t taker) store(ctx context.Context, job hooks.Job, name etcdsnapshot.Name) (hooks.Outcome, error) {
	store, err := etcdsnapshot.Open(ctx, job.Settings.SnapshotURL)
	if err != nil {
		return hooks.Outcome{}, err
	}
	outcome, err := t.storeIn(ctx, store, job, name)
	return outcome, errors.Join(err, store.Close())
}

func (t taker) storeIn(ctx context.Context, store *etcdsnapshot.Store, job hooks.Job, name etcdsnapshot.Name) (hooks.Outcome, error) {
	taken, ok, err := find(ctx, store, name)
	if err != nil {
		return hooks.Outcome{}, err
	}
	// What was taken for an earlier attempt lacks what was written since.
	if !ok || taken.Taken.Before(job.Since) {
		err = t.etcd.WithHealthyEtcdMember(ctx, job.Key(), func(ctx context.Context, member workload.EtcdMember) (err error) {
			taken, err = store.Take(ctx, member.Client, name, roomFor(member))
			return err
		})
	}
	if err != nil {
		return hooks.Outcome{}, err
	}
	outcome := hooks.Outcome{
		Done:    true,
		Message: fmt.Sprintf("an etcd snapshot is stored in %s: revision %d, members %d", store.Location(name), taken.Revision, len(taken.Members)),
		Report:  report(taken, store.Location(name)),
	}
	if err := store.Prune(ctx, name, job.Settings.SnapshotsKept); err != nil {
		// The snapshot is stored, and anybody can delete the surplus at any time.
		ctrl.LoggerFrom(ctx).Info("Could not delete old etcd snapshots", "detail", etcdsnapshot.Detail(err))
		outcome.Message += "; " + err.Error()
	}
	return outcome, nil
}

func find(ctx context.Context, store *etcdsnapshot.Store, name etcdsnapshot.Name) (etcdsnapshot.Snapshot, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	return store.Find(ctx, name)
}

// next returns when to try again.
func (r result) next() time.Duration {
	if r.busy {
		return turn
	}
	return patience
}

// report describes where a snapshot is and what it contains, for restoring it.
func report(taken etcdsnapshot.Snapshot, location string) string {
	return strings.Join([]string{
		"etcd snapshot: " + location,
		"taken: " + taken.Taken.UTC().Format(time.RFC3339),
		fmt.Sprintf("size: %d bytes", taken.Size),
		"sha256: " + taken.SHA256,
		fmt.Sprintf("hash: %s, revision: %d, keys: %d", taken.Hash, taken.Revision, taken.Keys),
		"members: " + strings.Join(taken.Members, ", "),
		"etcd version: " + taken.EtcdVersion,
	}, "\n")
}

// explain returns why there is no snapshot, in words that are always the same.
func explain(cluster client.ObjectKey, err error) result {
	var failed *etcdsnapshot.Error
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return result{problem: refused.Error(), busy: refused == errBusy}
	case errors.As(err, &failed):
		return result{problem: failed.Error()}
	case errors.Is(err, workload.ErrEtcdUnmanaged):
		return result{problem: workload.ErrEtcdUnmanaged.Error(), unreachable: true, external: true}
	case errors.Is(err, workload.ErrNoHealthyMember):
		return result{problem: workload.ErrNoHealthyMember.Error()}
	case missing(err, secret.Name(cluster.Name, secret.EtcdCA)):
		text := fmt.Sprintf("etcd cannot be reached without the Secret %s/%s, which holds its CA", cluster.Namespace, secret.Name(cluster.Name, secret.EtcdCA))
		return result{problem: text, unreachable: true}
	case missing(err, secret.Name(cluster.Name, secret.Kubeconfig)):
		return result{problem: fmt.Sprintf("the workload cluster cannot be reached without the Secret %s/%s", cluster.Namespace, secret.Name(cluster.Name, secret.Kubeconfig))}
	}
	return result{problem: "the workload cluster cannot be queried: " + hooks.Message(err)}
}

// missing reports whether the error means that no object with the name exists.
func missing(err error, name string) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name
}
