// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"time"

	"github.com/blang/semver/v4"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

// ErrNotConnected is returned by Watch while the ClusterCache has no connection to the cluster.
var ErrNotConnected = errors.New("the cluster cache is not connected to the workload cluster")

// Access reaches workload clusters, each named by the key of its Cluster. Implementations are safe for concurrent use.
type Access interface {
	// Initialized reports whether the API server serves and kubeadm has uploaded its configuration, from when on other
	// machines may join. An API server that cannot be reached is not an error but not initialized; a missing or broken
	// kubeconfig is an error. It returns ErrPending if the cluster does not answer at once.
	Initialized(ctx context.Context, cluster client.ObjectKey) (bool, error)
	// Observe reads the control plane's nodes and static pods, and the etcd that runs on them if the query says so.
	// It fails if nodes or pods cannot be read; what is wrong with etcd is part of the observation. It returns ErrPending
	// if the cluster does not answer at once.
	Observe(ctx context.Context, query Query) (Observation, error)
	// Source calls the handler with each cluster that has answered, or has failed to, since ErrPending was returned for it.
	// The object has the namespace of the Cluster, and its name as the label cluster.x-k8s.io/cluster-name.
	Source(to handler.EventHandler) source.Source
	// MoveEtcdLeader hands the leadership of etcd from one member to another.
	MoveEtcdLeader(ctx context.Context, cluster client.ObjectKey, from, to Member) error
	// RemoveEtcdMember asks one member of etcd to remove another one.
	RemoveEtcdMember(ctx context.Context, cluster client.ObjectKey, member, via Member) error
	// PrepareUpgrade applies the spec to what kubeadm stores in the cluster, before the first machine of a new version or
	// configuration joins: the version, the images, the feature gates and the components' settings in the ConfigMap
	// kubeadm-config, and the cluster role bindings that newer kubeadm versions rely on, once for each version. It writes only
	// what differs.
	PrepareUpgrade(ctx context.Context, cluster client.ObjectKey, spec *bootstrapv1.KubeadmConfigSpec, version semver.Version) error
	// UpdateAddons updates kube-proxy and then CoreDNS to the version of the control plane, once all machines have it. Add-ons
	// that are not installed are skipped. It writes only what differs.
	UpdateAddons(ctx context.Context, addons Addons) error
	// AvoidNode has the scheduler prefer other nodes to this one, or no longer. Pods that run stay, and pods that can run
	// nowhere else still come.
	AvoidNode(ctx context.Context, cluster client.ObjectKey, node string, avoid bool) error
	// TakeLeadership ends the leadership of the controller manager if it ran on one of the hosts, whose machines must be gone for
	// good: nobody has stopped it there in time to give up its lease.
	TakeLeadership(ctx context.Context, cluster client.ObjectKey, gone []string) error
	// CreateToken makes a bootstrap token with which one machine can join for a while, and returns it.
	CreateToken(ctx context.Context, cluster client.ObjectKey) (string, error)
	// KeepToken has a machine that has yet to join keep a bootstrap token for as long as if it were new. A token that is gone is
	// made once more, because a machine that has its bootstrap data can join with no other one.
	KeepToken(ctx context.Context, cluster client.ObjectKey, token string) error
	// CertificateExpiry returns when the serving certificate of the API server on a node expires.
	CertificateExpiry(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error)
	// Watch calls the handler when a control plane node or static pod changes. Calling it again for the same
	// cluster does nothing while the first watch runs. It returns ErrNotConnected if there is no connection to watch on.
	Watch(ctx context.Context, watch Watch) error
	// Forget drops what is kept for a cluster that no longer exists.
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

// Watch says who is told of changes.
type Watch struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Controller whose queue the handler fills.
	Controller clustercache.SourceWatcher[ctrl.Request]
	// Handler of the changes.
	Handler handler.EventHandler
}

// Addons is the wanted state of the add-ons that kubeadm installs.
type Addons struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Version of the control plane, for example v1.36.3.
	Version string
	// Config names the image repository and the wanted CoreDNS image. Without a tag, the version of CoreDNS stays.
	Config bootstrapv1.ClusterConfiguration
	// Skip names the add-ons to leave alone.
	Skip []Addon
}

// Addon is an add-on that kubeadm installs.
type Addon string

const (
	// KubeProxy is the DaemonSet kube-proxy.
	KubeProxy Addon = "kube-proxy"
	// CoreDNS is the Deployment coredns and its Corefile.
	CoreDNS Addon = "coredns"
)

// APIServerEndpoint is one of the API servers of a cluster.
type APIServerEndpoint struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Node on which it runs.
	Node string
	// Port on which it serves; zero is 6443.
	Port int32
}
