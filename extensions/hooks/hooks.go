// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"

	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of the lifecycle hooks, in the order in which they occur in the life of a Cluster.
const (
	// BeforeClusterCreate blocks the creation of the topology's objects.
	BeforeClusterCreate = "BeforeClusterCreate"
	// AfterControlPlaneInitialized blocks nothing: its job is recorded and done later.
	AfterControlPlaneInitialized = "AfterControlPlaneInitialized"
	// BeforeClusterUpgrade blocks the whole upgrade. It is called once for each upgrade.
	BeforeClusterUpgrade = "BeforeClusterUpgrade"
	// BeforeControlPlaneUpgrade blocks one step of the control plane.
	BeforeControlPlaneUpgrade = "BeforeControlPlaneUpgrade"
	// AfterControlPlaneUpgrade blocks what follows one step of the control plane.
	AfterControlPlaneUpgrade = "AfterControlPlaneUpgrade"
	// BeforeWorkersUpgrade blocks one step of the workers.
	BeforeWorkersUpgrade = "BeforeWorkersUpgrade"
	// AfterWorkersUpgrade blocks what follows one step of the workers.
	AfterWorkersUpgrade = "AfterWorkersUpgrade"
	// AfterClusterUpgrade blocks the next upgrade.
	AfterClusterUpgrade = "AfterClusterUpgrade"
	// BeforeClusterDelete blocks the deletion of the Cluster's objects.
	BeforeClusterDelete = "BeforeClusterDelete"
)

// Names returns the names of all lifecycle hooks, in the order in which they occur in the life of a
// Cluster.
func Names() []string {
	handlers := Hooks{}.Handlers()
	names := make([]string, 0, len(handlers))
	for _, handler := range handlers {
		names = append(names, runtimecatalog.HookName(handler.Hook))
	}
	return names
}

// Hooks answers the lifecycle hooks. It is safe for concurrent use, even by several processes.
type Hooks struct {
	cached client.Reader
	client client.Client
	tasks  Tasks
	clock  clock.PassiveClock
}

// New returns the answers. They read from the cache, so that repeated calls cost no requests, and
// write with the client. A hook without tasks does nothing.
func New(cached client.Reader, writer client.Client, tasks Tasks) Hooks {
	return Hooks{cached: cached, client: writer, tasks: tasks, clock: clock.RealClock{}}
}

// call is a call of a hook.
type call struct {
	cluster  *clusterv1.Cluster
	hook     string
	from, to string
	steps    []runtimehooksv1.UpgradeStepInfo
	settings map[string]string
	// asked are the settings that ask for tasks of the hook.
	asked []string
}

// Handlers returns the handlers of the lifecycle hooks for Cluster API's extension server.
func (h Hooks) Handlers() []runtimeserver.ExtensionHandler {
	return []runtimeserver.ExtensionHandler{
		handlerOf(h, "before-cluster-create", runtimehooksv1.BeforeClusterCreate, func(r *runtimehooksv1.BeforeClusterCreateRequest) call { return call{cluster: &r.Cluster} }),
		handlerOf(h, "after-control-plane-initialized", runtimehooksv1.AfterControlPlaneInitialized, func(r *runtimehooksv1.AfterControlPlaneInitializedRequest) call { return call{cluster: &r.Cluster} }),
		handlerOf(h, "before-cluster-upgrade", runtimehooksv1.BeforeClusterUpgrade, func(r *runtimehooksv1.BeforeClusterUpgradeRequest) call {
			return call{cluster: &r.Cluster, from: r.FromKubernetesVersion, to: r.ToKubernetesVersion, steps: r.ControlPlaneUpgrades}
		}),
		handlerOf(h, "before-control-plane-upgrade", runtimehooksv1.BeforeControlPlaneUpgrade, func(r *runtimehooksv1.BeforeControlPlaneUpgradeRequest) call {
			return call{cluster: &r.Cluster, from: r.FromKubernetesVersion, to: r.ToKubernetesVersion, steps: r.ControlPlaneUpgrades}
		}),
		handlerOf(h, "after-control-plane-upgrade", runtimehooksv1.AfterControlPlaneUpgrade, func(r *runtimehooksv1.AfterControlPlaneUpgradeRequest) call {
			return call{cluster: &r.Cluster, to: r.KubernetesVersion, steps: r.ControlPlaneUpgrades}
		}),
		handlerOf(h, "before-workers-upgrade", runtimehooksv1.BeforeWorkersUpgrade, func(r *runtimehooksv1.BeforeWorkersUpgradeRequest) call {
			return call{cluster: &r.Cluster, from: r.FromKubernetesVersion, to: r.ToKubernetesVersion, steps: r.WorkersUpgrades}
		}),
		handlerOf(h, "after-workers-upgrade", runtimehooksv1.AfterWorkersUpgrade, func(r *runtimehooksv1.AfterWorkersUpgradeRequest) call {
			return call{cluster: &r.Cluster, to: r.KubernetesVersion, steps: r.WorkersUpgrades}
		}),
		handlerOf(h, "after-cluster-upgrade", runtimehooksv1.AfterClusterUpgrade, func(r *runtimehooksv1.AfterClusterUpgradeRequest) call {
			return call{cluster: &r.Cluster, to: r.KubernetesVersion}
		}),
		handlerOf(h, "before-cluster-delete", runtimehooksv1.BeforeClusterDelete, func(r *runtimehooksv1.BeforeClusterDeleteRequest) call { return call{cluster: &r.Cluster} }),
	}
}

// handlerOf returns the handler of a hook whose requests are read by a function.
func handlerOf[Q runtimehooksv1.RequestObject, R runtimehooksv1.ResponseObject](h Hooks, name string, hook func(Q, R), read func(Q) call) runtimeserver.ExtensionHandler {
	return runtimeserver.ExtensionHandler{Hook: hook, Name: name, HandlerFunc: func(ctx context.Context, request Q, response R) {
		call := read(request)
		call.hook, call.settings = runtimecatalog.HookName(hook), request.GetSettings()
		h.answer(ctx, call, response)
	}}
}
