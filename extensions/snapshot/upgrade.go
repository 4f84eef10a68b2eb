/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package snapshot

import (
	"context"
	"fmt"

	"github.com/capfoo/cluster-api-provider-foo/extensions/lifecycle"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
)

// upgrade is the task of the hook BeforeControlPlaneUpgrade.
type upgrade struct {
	taker taker
}

// BeforeControlPlaneUpgrade returns the task that takes an etcd snapshot before a step of an upgrade of the control plane.
// The step is held until the snapshot is stored.
func BeforeControlPlaneUpgrade(etcd Etcd) work.Task { return upgrade{taker: taker{etcd: etcd}} }

// Wanted implements work.Task.
func (u upgrade) Wanted(given map[string]string) (bool, error) {
	_, wanted, err := readTerms(given, snapshots)
	return wanted, err
}

// Run implements work.Task.
func (u upgrade) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	terms, wanted, err := readTerms(job.Settings, snapshots)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	came := u.taker.take(ctx, job, etcdsnapshot.Name{
		UID: job.UID, Cluster: job.Cluster, Version: job.From, Occasion: "before-" + job.To,
	}, terms)
	setting := snapshotExternalEtcd.Doc().Name
	switch {
	case came.problem == "":
		return came.stored, nil
	case came.unreachable && terms.etcd == skip:
		return work.Outcome{Done: true, Message: fmt.Sprintf("no etcd snapshot was taken, as the setting %s allows: %s", setting, came.problem)}, nil
	case came.unreachable:
		return work.Outcome{RetryAfter: patience, Message: fmt.Sprintf(
			"no etcd snapshot can be taken: %s; take one yourself, then name %s in the annotation %s, or set %s to %s",
			came.problem, lifecycle.BeforeControlPlaneUpgrade, lifecycle.SkipAnnotation, setting, skip)}, nil
	}
	return work.Outcome{RetryAfter: patience, Message: "waiting for an etcd snapshot: " + came.problem}, nil
}
