// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

// ErrNoAnswer is returned by Initialized while the API server does not answer its questions.
var ErrNoAnswer = errors.New("the API server does not answer")

// Milestone is how far kubeadm init has got.
type Milestone string

// Milestones of kubeadm init, in this order.
const (
	// ConfigUploaded means that the API server serves and has kubeadm's configuration.
	ConfigUploaded Milestone = "ConfigUploaded"
	// TokensSigned means that machines can join with bootstrap tokens. For that, kubeadm join needs a
	// signature by the controller manager, which starts late. If kubeadm join comes too early, it
	// tries again only after 5 s. A cluster without a signature is not held up for longer than
	// signingTime: perhaps nobody signs, or the last token has expired.
	TokensSigned Milestone = "TokensSigned"
)

// signingTime is how long after kubeadm has uploaded its configuration to wait for the first
// signature.
const signingTime = 20 * time.Second

// reached reports whether kubeadm init has got as far as the milestone.
func (m Milestone) reached(ctx context.Context, reader client.Reader) (bool, error) {
	var config, info corev1.ConfigMap
	if found, err := exists(ctx, reader, kubeadmConfig, &config); !found {
		return false, err
	}
	if m == ConfigUploaded || time.Since(config.CreationTimestamp.Time) > signingTime {
		return true, nil
	}
	_, err := exists(ctx, reader, clusterInfo, &info)
	for name := range info.Data {
		if strings.HasPrefix(name, bootstrapapi.JWSSignatureKeyPrefix) {
			return true, nil
		}
	}
	return false, err
}

// exists reads an object. It returns ErrNoAnswer if the API server does not say whether the object
// exists.
func exists(ctx context.Context, reader client.Reader, key client.ObjectKey, object client.Object) (bool, error) {
	err := reader.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return err == nil, nil
}

// Access connects to workload clusters, each identified by the key of its Cluster. Implementations
// are safe for concurrent use.
type Access interface {
	// Initialized reports whether the API server serves and kubeadm init has got as far as the
	// milestone. It returns ErrPending if the cluster does not answer immediately, and ErrNoAnswer
	// once it is known not to answer. A missing or broken kubeconfig is another error.
	Initialized(ctx context.Context, cluster client.ObjectKey, milestone Milestone) (bool, error)
	// Observe reads the control plane's Nodes and static Pods and, if the query asks for it, the
	// etcd that runs on them. It fails if Nodes or Pods cannot be read; problems with etcd are part
	// of the observation. It returns ErrPending if the cluster does not answer immediately.
	Observe(ctx context.Context, query Query) (Observation, error)
	// Source calls the handler with each cluster that has answered, or failed to answer, since
	// ErrPending was returned for it. The object has the namespace of the Cluster, and its name in
	// the label cluster.x-k8s.io/cluster-name.
	Source(to handler.EventHandler) source.Source
	// MoveEtcdLeader transfers the leadership of etcd from one member to another.
	MoveEtcdLeader(ctx context.Context, cluster client.ObjectKey, from, to Member) error
	// RemoveEtcdMember removes a member of etcd. The request goes to the member via.
	RemoveEtcdMember(ctx context.Context, cluster client.ObjectKey, member, via Member) error
	// PrepareUpgrade updates what kubeadm stores in the cluster, before the first machine with a
	// new version or configuration joins: the version, images, feature gates and component settings
	// in the ConfigMap kubeadm-config, and, once per version, the cluster role bindings that newer
	// kubeadm versions need. It writes only what differs.
	PrepareUpgrade(ctx context.Context, cluster client.ObjectKey, spec *bootstrapv1.KubeadmConfigSpec, version semver.Version) error
	// UpdateAddons updates kube-proxy and then CoreDNS to the version of the control plane, once
	// all machines have it. It skips add-ons that are not installed, and writes only what differs.
	UpdateAddons(ctx context.Context, addons Addons) error
	// AvoidNode makes the scheduler prefer other nodes, or ends that. Running Pods stay, and Pods
	// that fit nowhere else are still scheduled there.
	AvoidNode(ctx context.Context, cluster client.ObjectKey, node string, avoid bool) error
	// TakeLeadership ends the leadership of the controller manager if it ran on one of the hosts in
	// gone. Their machines must be gone for good. A controller manager that was stopped abruptly
	// has not released its lease.
	TakeLeadership(ctx context.Context, cluster client.ObjectKey, gone []string) error
	// CreateToken creates and returns a bootstrap token with which one machine can join for a
	// limited time.
	CreateToken(ctx context.Context, cluster client.ObjectKey) (string, error)
	// KeepToken extends the life of a bootstrap token to that of a new one, for a machine that has
	// not joined yet. It recreates a token that is gone, because a machine that already has its
	// bootstrap data can join with no other token.
	KeepToken(ctx context.Context, cluster client.ObjectKey, token string) error
	// CertificateExpiry returns when the serving certificate of the API server on a node expires.
	CertificateExpiry(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error)
	// Watch calls the handler when a control plane Node or static Pod changes. Another call for the
	// same cluster does nothing while the first watch runs. Watch returns the ClusterCache's
	// ErrClusterNotConnected if there is no connection to watch on.
	Watch(ctx context.Context, watch Watch) error
	// Forget drops everything that is kept for a cluster that no longer exists.
	Forget(cluster client.ObjectKey)
}

// Query selects what to observe.
type Query struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Etcd says who runs etcd.
	Etcd EtcdMode
}

// EtcdMode says who runs etcd.
type EtcdMode string

const (
	// EtcdStacked is etcd that kubeadm runs on the control plane machines.
	EtcdStacked EtcdMode = "Stacked"
	// EtcdExternal is etcd that the user runs. It is not observed.
	EtcdExternal EtcdMode = "External"
)

// Watch configures who is notified of changes.
type Watch struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Controller is the one whose queue the handler fills.
	Controller clustercache.SourceWatcher[ctrl.Request]
	// Handler handles the changes.
	Handler handler.EventHandler
}

// Addons is the desired state of the add-ons that kubeadm installs.
type Addons struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Version is the version of the control plane, for example v1.36.3.
	Version string
	// Config has the image repository and the desired CoreDNS image. Without a tag, CoreDNS keeps
	// its version.
	Config bootstrapv1.ClusterConfiguration
	// Annotations holds those of KubeadmControlPlane's annotations that exclude an add-on, which is
	// then left alone.
	Annotations map[string]string
}

// APIServerEndpoint identifies one of the API servers of a cluster.
type APIServerEndpoint struct {
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Node is the Node that it runs on.
	Node string
	// Port is the port that it serves on; zero means 6443.
	Port int32
}
