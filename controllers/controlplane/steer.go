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

package controlplane

import (
	"context"
	"errors"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// steerPods has the scheduler avoid the Nodes of Machines that a rollout replaces. Otherwise Pods that are evicted from one of
// them may move to the next one that is drained, and Cluster API looks only every 20 s whether the Pods of a Node are gone.
func (r *Reconciler) steerPods(ctx context.Context, s *scope, seen plan.State) error {
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
