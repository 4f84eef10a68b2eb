// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// avoidOutdatedNodes makes the scheduler avoid the Nodes of Machines that a rollout replaces.
// Otherwise Pods evicted from one of them may move to the next one to be drained, and Cluster API
// checks only every 20 s whether a drain is complete.
func (r *Reconciler) avoidOutdatedNodes(ctx context.Context, s *scope, seen plan.State) error {
	if s.observation == nil {
		return nil
	}
	var errs []error
	for _, machine := range seen.Machines {
		node, ok := s.observation.Node(machine.Node)
		if goes := seen.Replaceable(machine); ok && node.Avoided != goes {
			errs = append(errs, r.workload.AvoidNode(ctx, s.key(), node.Name, goes))
		}
	}
	return errors.Join(errs...)
}
