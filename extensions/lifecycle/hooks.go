// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

// Names of the lifecycle hooks, in the order in which they occur in the life of a Cluster.
const (
	BeforeClusterCreate          = "BeforeClusterCreate"
	AfterControlPlaneInitialized = "AfterControlPlaneInitialized"
	BeforeClusterUpgrade         = "BeforeClusterUpgrade"
	BeforeControlPlaneUpgrade    = "BeforeControlPlaneUpgrade"
	AfterControlPlaneUpgrade     = "AfterControlPlaneUpgrade"
	BeforeWorkersUpgrade         = "BeforeWorkersUpgrade"
	AfterWorkersUpgrade          = "AfterWorkersUpgrade"
	AfterClusterUpgrade          = "AfterClusterUpgrade"
	BeforeClusterDelete          = "BeforeClusterDelete"
)

// Names returns the names of all lifecycle hooks, in the order in which they occur in the life of a
// Cluster.
func Names() []string {
	return []string{
		BeforeClusterCreate, AfterControlPlaneInitialized, BeforeClusterUpgrade, BeforeControlPlaneUpgrade,
		AfterControlPlaneUpgrade, BeforeWorkersUpgrade, AfterWorkersUpgrade, AfterClusterUpgrade, BeforeClusterDelete,
	}
}

// Hooks holds the handlers of the lifecycle hooks, in the form that Cluster API's extension server
// expects.
type Hooks struct {
	desk desk
}

// New returns the handlers.
func New(options Options) Hooks { return Hooks{desk: desk{options}} }

// BeforeClusterCreate blocks the creation of the topology's objects.
func (h Hooks) BeforeClusterCreate(ctx context.Context, request *runtimehooksv1.BeforeClusterCreateRequest, response *runtimehooksv1.BeforeClusterCreateResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{Hook: BeforeClusterCreate, Settings: request.Settings}).into(response)
}

// AfterControlPlaneInitialized blocks nothing: its job is recorded and done later.
func (h Hooks) AfterControlPlaneInitialized(ctx context.Context, request *runtimehooksv1.AfterControlPlaneInitializedRequest, response *runtimehooksv1.AfterControlPlaneInitializedResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{Hook: AfterControlPlaneInitialized, Settings: request.Settings}).into(response)
}

// BeforeClusterUpgrade blocks the whole upgrade. It is called once for each upgrade.
func (h Hooks) BeforeClusterUpgrade(ctx context.Context, request *runtimehooksv1.BeforeClusterUpgradeRequest, response *runtimehooksv1.BeforeClusterUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{
		Hook: BeforeClusterUpgrade, From: request.FromKubernetesVersion, To: request.ToKubernetesVersion,
		Plan: versions(request.ControlPlaneUpgrades), Settings: request.Settings,
	}).into(response)
}

// BeforeControlPlaneUpgrade blocks one step of the control plane.
func (h Hooks) BeforeControlPlaneUpgrade(ctx context.Context, request *runtimehooksv1.BeforeControlPlaneUpgradeRequest, response *runtimehooksv1.BeforeControlPlaneUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{
		Hook: BeforeControlPlaneUpgrade, From: request.FromKubernetesVersion, To: request.ToKubernetesVersion,
		Plan: versions(request.ControlPlaneUpgrades), Settings: request.Settings,
	}).into(response)
}

// AfterControlPlaneUpgrade blocks what follows one step of the control plane.
func (h Hooks) AfterControlPlaneUpgrade(ctx context.Context, request *runtimehooksv1.AfterControlPlaneUpgradeRequest, response *runtimehooksv1.AfterControlPlaneUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{
		Hook: AfterControlPlaneUpgrade, To: request.KubernetesVersion, Plan: versions(request.ControlPlaneUpgrades), Settings: request.Settings,
	}).into(response)
}

// BeforeWorkersUpgrade blocks one step of the workers.
func (h Hooks) BeforeWorkersUpgrade(ctx context.Context, request *runtimehooksv1.BeforeWorkersUpgradeRequest, response *runtimehooksv1.BeforeWorkersUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{
		Hook: BeforeWorkersUpgrade, From: request.FromKubernetesVersion, To: request.ToKubernetesVersion,
		Plan: versions(request.WorkersUpgrades), Settings: request.Settings,
	}).into(response)
}

// AfterWorkersUpgrade blocks what follows one step of the workers.
func (h Hooks) AfterWorkersUpgrade(ctx context.Context, request *runtimehooksv1.AfterWorkersUpgradeRequest, response *runtimehooksv1.AfterWorkersUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{
		Hook: AfterWorkersUpgrade, To: request.KubernetesVersion, Plan: versions(request.WorkersUpgrades), Settings: request.Settings,
	}).into(response)
}

// AfterClusterUpgrade blocks the next upgrade.
func (h Hooks) AfterClusterUpgrade(ctx context.Context, request *runtimehooksv1.AfterClusterUpgradeRequest, response *runtimehooksv1.AfterClusterUpgradeResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{Hook: AfterClusterUpgrade, To: request.KubernetesVersion, Settings: request.Settings}).into(response)
}

// BeforeClusterDelete blocks the deletion of the Cluster's objects.
func (h Hooks) BeforeClusterDelete(ctx context.Context, request *runtimehooksv1.BeforeClusterDeleteRequest, response *runtimehooksv1.BeforeClusterDeleteResponse) {
	h.desk.decide(ctx, &request.Cluster, work.Job{Hook: BeforeClusterDelete, Settings: request.Settings}).into(response)
}

// versions returns the versions of the steps of an upgrade.
func versions(steps []runtimehooksv1.UpgradeStepInfo) []string {
	list := make([]string, 0, len(steps))
	for _, step := range steps {
		list = append(list, step.Version)
	}
	return list
}
