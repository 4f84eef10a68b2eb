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

package workload

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

// ErrNotConnected is returned by Watch while the ClusterCache has no connection to the cluster.
var ErrNotConnected = errors.New("the cluster cache is not connected to the workload cluster")

// Access reaches workload clusters, each named by the key of its Cluster. Implementations are safe for concurrent use.
type Access interface {
	// Initialized reports whether the API server serves and kubeadm has uploaded its configuration, from when on other
	// machines may join. An API server that can not be reached is no error but not initialized; a missing or broken
	// kubeconfig is an error.
	Initialized(ctx context.Context, cluster client.ObjectKey) (bool, error)
	// Observe reads the control plane's nodes and static pods, and the etcd that runs on them if the query says so.
	// It fails if nodes or pods can not be read; what is wrong with etcd stands in the observation.
	Observe(ctx context.Context, query Query) (Observation, error)
	// MoveEtcdLeader hands the leadership of etcd from one member to another.
	MoveEtcdLeader(ctx context.Context, cluster client.ObjectKey, from, to Member) error
	// RemoveEtcdMember removes one member from etcd, by way of another one.
	RemoveEtcdMember(ctx context.Context, cluster client.ObjectKey, member, via Member) error
	// Watch has the handler called when a control plane node or static pod changes. Calling it again for the same
	// cluster does nothing while the first watch runs. It returns ErrNotConnected if there is no connection to watch on.
	Watch(ctx context.Context, watch Watch) error
	// Forget drops what is kept for a cluster that is gone.
	Forget(cluster client.ObjectKey)
}

// Query says what to observe.
type Query struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Etcd says who runs etcd.
	Etcd EtcdMode
}

// EtcdMode says who runs etcd.
type EtcdMode string

const (
	// EtcdStacked is an etcd that kubeadm runs on the control plane machines.
	EtcdStacked EtcdMode = "Stacked"
	// EtcdExternal is an etcd that the user runs; it is not observed.
	EtcdExternal EtcdMode = "External"
)

// Watch says who wants to know of changes.
type Watch struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Controller whose queue the handler fills.
	Controller clustercache.SourceWatcher[ctrl.Request]
	// Handler of the changes.
	Handler handler.EventHandler
}
