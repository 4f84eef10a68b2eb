// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"

	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	jobs  store
	tasks Tasks
}

// New returns the handlers. They read from the cache, so that repeated calls cost no requests, and
// write with the client. A hook without tasks does nothing.
func New(cached client.Reader, writer client.Client, tasks Tasks) Hooks {
	return Hooks{jobs: store{cached: cached, client: writer, clock: clock.RealClock{}}, tasks: tasks}
}

// call is a call of a hook.
type call struct {
	cluster  *clusterv1.Cluster
	hook     string
	from, to string
	steps    []runtimehooksv1.UpgradeStepInfo
	settings map[string]string
}

// BeforeClusterCreate blocks the creation of the topology's objects.
func (h Hooks) BeforeClusterCreate(ctx context.Context, request *runtimehooksv1.BeforeClusterCreateRequest, response *runtimehooksv1.BeforeClusterCreateResponse) {
	h.answer(ctx, call{cluster: &request.Cluster, hook: BeforeClusterCreate, settings: request.Settings}, response)
}

// AfterControlPlaneInitialized blocks nothing: its job is recorded and done later.
func (h Hooks) AfterControlPlaneInitialized(ctx context.Context, request *runtimehooksv1.AfterControlPlaneInitializedRequest, response *runtimehooksv1.AfterControlPlaneInitializedResponse) {
	h.answer(ctx, call{cluster: &request.Cluster, hook: AfterControlPlaneInitialized, settings: request.Settings}, response)
}

// BeforeClusterUpgrade blocks the whole upgrade. It is called once for each upgrade.
func (h Hooks) BeforeClusterUpgrade(ctx context.Context, request *runtimehooksv1.BeforeClusterUpgradeRequest, response *runtimehooksv1.BeforeClusterUpgradeResponse) {
	h.answer(ctx, call{
		cluster: &request.Cluster, hook: BeforeClusterUpgrade,
		from: request.FromKubernetesVersion, to: request.ToKubernetesVersion, steps: request.ControlPlaneUpgrades, settings: request.Settings,
	}, response)
}

// BeforeControlPlaneUpgrade blocks one step of the control plane.
func (h Hooks) BeforeControlPlaneUpgrade(ctx context.Context, request *runtimehooksv1.BeforeControlPlaneUpgradeRequest, response *runtimehooksv1.BeforeControlPlaneUpgradeResponse) {
	h.answer(ctx, call{
		cluster: &request.Cluster, hook: BeforeControlPlaneUpgrade,
		from: request.FromKubernetesVersion, to: request.ToKubernetesVersion, steps: request.ControlPlaneUpgrades, settings: request.Settings,
	}, response)
}

// AfterControlPlaneUpgrade blocks what follows one step of the control plane.
func (h Hooks) AfterControlPlaneUpgrade(ctx context.Context, request *runtimehooksv1.AfterControlPlaneUpgradeRequest, response *runtimehooksv1.AfterControlPlaneUpgradeResponse) {
	h.answer(ctx, call{
		cluster: &request.Cluster, hook: AfterControlPlaneUpgrade,
		to: request.KubernetesVersion, steps: request.ControlPlaneUpgrades, settings: request.Settings,
	}, response)
}

// BeforeWorkersUpgrade blocks one step of the workers.
func (h Hooks) BeforeWorkersUpgrade(ctx context.Context, request *runtimehooksv1.BeforeWorkersUpgradeRequest, response *runtimehooksv1.BeforeWorkersUpgradeResponse) {
	h.answer(ctx, call{
		cluster: &request.Cluster, hook: BeforeWorkersUpgrade,
		from: request.FromKubernetesVersion, to: request.ToKubernetesVersion, steps: request.WorkersUpgrades, settings: request.Settings,
	}, response)
}

// AfterWorkersUpgrade blocks what follows one step of the workers.
func (h Hooks) AfterWorkersUpgrade(ctx context.Context, request *runtimehooksv1.AfterWorkersUpgradeRequest, response *runtimehooksv1.AfterWorkersUpgradeResponse) {
	h.answer(ctx, call{
		cluster: &request.Cluster, hook: AfterWorkersUpgrade,
		to: request.KubernetesVersion, steps: request.WorkersUpgrades, settings: request.Settings,
	}, response)
}

// AfterClusterUpgrade blocks the next upgrade.
func (h Hooks) AfterClusterUpgrade(ctx context.Context, request *runtimehooksv1.AfterClusterUpgradeRequest, response *runtimehooksv1.AfterClusterUpgradeResponse) {
	h.answer(ctx, call{cluster: &request.Cluster, hook: AfterClusterUpgrade, to: request.KubernetesVersion, settings: request.Settings}, response)
}

// BeforeClusterDelete blocks the deletion of the Cluster's objects.
func (h Hooks) BeforeClusterDelete(ctx context.Context, request *runtimehooksv1.BeforeClusterDeleteRequest, response *runtimehooksv1.BeforeClusterDeleteResponse) {
	h.answer(ctx, call{cluster: &request.Cluster, hook: BeforeClusterDelete, settings: request.Settings}, response)
}
