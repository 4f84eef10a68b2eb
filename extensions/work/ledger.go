// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the field manager for records of jobs.
const FieldOwner = client.FieldOwner("foo-runtime-extension")

// Ledger records jobs. It is safe for concurrent use, even by several processes.
type Ledger struct {
	cached client.Reader
	client client.Client
}

// NewLedger returns a ledger. It reads from the cache, so that repeated calls of a hook cost no
// requests, and writes with the client.
func NewLedger(cached client.Reader, writer client.Client) *Ledger {
	return &Ledger{cached: cached, client: writer}
}

// Answer is the progress of a job.
type Answer struct {
	// State of the job.
	State State
	// Message of its last Outcome.
	Message string
}

// Ask returns the progress of a job. It records a new job, and updates the plan of an unfinished
// one. It fails for a new job if no ExtensionConfig has the given settings, because anybody may be
// the caller.
func (l *Ledger) Ask(ctx context.Context, job Job) (Answer, error) {
	known := &corev1.ConfigMap{}
	err := l.cached.Get(ctx, job.key(), known)
	isNew := apierrors.IsNotFound(err)
	if err != nil && !isNew {
		return Answer{}, fmt.Errorf("reading the job of the hook: %w", err)
	}
	answer := Answer{State: State(known.Data[StateKey]), Message: known.Data[MessageKey]}
	if answer.State == Done {
		return answer, nil
	}
	job.config, err = configOf(ctx, l.cached, job.Settings, known.Data[configKey])
	if errors.Is(err, errUnregistered) && !isNew {
		// Cluster API may not know yet that the ExtensionConfig changed. The job is done
		// with the current settings.
		job.config, err = known.Data[configKey], nil
	}
	if err != nil {
		return Answer{}, err
	}
	if isNew {
		return l.write(ctx, job)
	}
	return answer, l.refresh(ctx, job, known)
}

func (l *Ledger) write(ctx context.Context, job Job) (Answer, error) {
	// Another replica, or an earlier call that the cache has not seen yet, may have recorded it
	// first.
	if err := l.client.Create(ctx, record(job), FieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
		return Answer{}, fmt.Errorf("recording the job of the hook: %w", err)
	}
	return Answer{State: Pending}, nil
}

// refresh updates the plan of a job and the name of its ExtensionConfig.
func (l *Ledger) refresh(ctx context.Context, job Job, known *corev1.ConfigMap) error {
	plan := strings.Join(job.Plan, ",")
	if known.Data[configKey] == job.config && known.Data[planKey] == plan {
		return nil
	}
	changed := known.DeepCopy()
	changed.Data[configKey], changed.Data[planKey] = job.config, plan
	if err := l.client.Patch(ctx, changed, client.MergeFrom(known), FieldOwner); err != nil {
		return fmt.Errorf("recording changes to the job of the hook: %w", err)
	}
	return nil
}
