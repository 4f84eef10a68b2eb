// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Task applies the add-ons of a Cluster once the control plane is initialized and after each of its upgrade
// steps, and deletes what they no longer contain. Before a step, it applies the add-ons that ask for it, in the
// variants for the version that the step leads to.
type Task struct{ hooks.Clusters }

// +kubebuilder:rbac:groups=foo.cluster.x-k8s.io,resources=addons,verbs=get;list;watch
// +kubebuilder:rbac:groups=foo.cluster.x-k8s.io,resources=addons/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Run does what can be done now, and records the progress in the status of the Addons.
func (t Task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	var addons extensionv1.AddonList
	if err := t.Client.List(ctx, &addons, client.InNamespace(job.Cluster.Namespace)); err != nil {
		return hooks.Outcome{}, fmt.Errorf("listing Addons: %w", err)
	}
	pass := &pass{Task: t, job: job}
	for _, addon := range selected(addons.Items, job.Cluster) {
		if job.Hook != hooks.BeforeControlPlaneUpgrade || addon.Spec.Upgrade == extensionv1.BeforeControlPlane {
			pass.contents = append(pass.contents, content{addon: addon})
		}
	}
	if len(pass.contents) == 0 {
		return hooks.Outcome{Done: true, Message: "no add-on selects this Cluster"}, nil
	}
	pass.do(ctx)
	for i := range pass.contents {
		one := &pass.contents[i]
		if err := record(ctx, t.Client, one.addon, one.progress(job.Cluster, pass.failure)); err != nil {
			return hooks.Outcome{}, err
		}
	}
	outcome := pass.outcome()
	// The time of the smoke checks, which follow, counts from now. An add-on that is corrected while they fail is
	// still applied.
	outcome.RestartsTimeouts = outcome.Done && job.Hook == hooks.AfterControlPlaneUpgrade
	return outcome, nil
}
