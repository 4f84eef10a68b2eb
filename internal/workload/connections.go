// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
)

var (
	// kubeadmConfig is the ConfigMap that kubeadm uploads once the first API server serves.
	kubeadmConfig = client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}
	// clusterInfo is the ConfigMap by which joining machines find the cluster.
	clusterInfo = client.ObjectKey{Namespace: metav1.NamespacePublic, Name: bootstrapapi.ConfigMapClusterInfo}
)

const (
	// nodeRoleLabel is how kubeadm marks control plane Nodes.
	nodeRoleLabel = "node-role.kubernetes.io/control-plane"
	// initializedTimeout bounds one request to an API server that may not serve yet. A load
	// balancer that holds early connections answers within this time once the API server is up.
	initializedTimeout = 2 * time.Second
	// observeTimeout bounds one observation, unless twice the etcd timeout is longer.
	observeTimeout = 10 * time.Second
	// writeTimeout bounds all writes of one step.
	writeTimeout = 15 * time.Second
)

// controlPlanePods returns the label that kubeadm puts on its static Pods.
func controlPlanePods() labels.Set { return labels.Set{"tier": "control-plane"} }

// CacheByObject returns the cache options that Connections requires of a ClusterCache: of all Pods,
// the cache holds only the control plane's static Pods.
func CacheByObject() map[client.Object]ctrlcache.ByObject {
	return map[client.Object]ctrlcache.ByObject{
		&corev1.Pod{}: {
			Namespaces: map[string]ctrlcache.Config{metav1.NamespaceSystem: {LabelSelector: controlPlanePods().AsSelector()}},
		},
	}
}

// Connections implements Access for real clusters.
type Connections struct {
	*Clusters
	cache       clustercache.ClusterCache
	etcd        *etcdClients
	initialized *inspections[bool]
	observed    *inspections[Observation]
	// permitted is the version for which the cluster role bindings of a cluster were created.
	permitted sync.Map
	// wake triggers a reconcile of a cluster in the controller of Source; nil before there is one.
	wake atomic.Pointer[func(client.ObjectKey)]
}

var _ Access = &Connections{}

// NewConnections returns access through a ClusterCache or, where that is not connected, through the
// kubeconfig Secrets. It reads Secrets from cached first, which may hold only the Secrets with
// Cluster API's label, and then from live. The timeout bounds one round of requests to an etcd
// member; zero means 5 s.
func NewConnections(cache clustercache.ClusterCache, cached, live client.Reader, timeout time.Duration) *Connections {
	c := &Connections{Clusters: newUnlimited(certs.Secrets{Cached: cached, Live: live}), cache: cache, etcd: newEtcdClients(etcdIdle)}
	c.etcd.timeout = cmp.Or(timeout, etcdTimeout)
	wake := func(cluster client.ObjectKey) {
		if wake := c.wake.Load(); wake != nil {
			(*wake)(cluster)
		}
	}
	c.initialized = newInspections[bool](initializedTimeout, clock.RealClock{}, wake)
	c.observed = newInspections[Observation](max(observeTimeout, 2*c.etcd.timeout), clock.RealClock{}, wake)
	return c
}

// Source implements Access.
func (c *Connections) Source(to handler.EventHandler) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		wake := func(cluster client.ObjectKey) {
			to.Generic(ctx, event.GenericEvent{Object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: cluster.Namespace, Name: cluster.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
			}}}, queue)
		}
		c.wake.Store(&wake)
		return nil
	})
}

// Initialized implements Access.
func (c *Connections) Initialized(ctx context.Context, cluster client.ObjectKey, milestone Milestone) (bool, error) {
	return c.initialized.inspect(ctx, cluster, func(ctx context.Context) (bool, error) {
		connection, err := c.connect(ctx, cluster)
		if err != nil {
			return false, err
		}
		return milestone.reached(ctx, connection.client)
	})
}

// Observe implements Access.
func (c *Connections) Observe(ctx context.Context, query Query) (Observation, error) {
	return c.observed.inspect(ctx, query.Cluster, func(ctx context.Context) (Observation, error) { return c.observe(ctx, query) })
}

func (c *Connections) observe(ctx context.Context, query Query) (Observation, error) {
	reader, err := c.reader(ctx, query.Cluster)
	if err != nil {
		return Observation{}, err
	}
	nodes, err := listNodes(ctx, reader, query.Etcd)
	if err != nil {
		return Observation{}, err
	}
	observation := Observation{Nodes: nodes}
	if query.Etcd == EtcdExternal {
		// Cached objects do not prove that the API server is alive, and external etcd is not
		// queried through it.
		return observation, c.answers(ctx, query.Cluster)
	}
	if len(nodes) > 0 {
		observation.Etcd = c.observeEtcd(ctx, query.Cluster, nodes)
	}
	return observation, nil
}

// answers returns an error if the API server does not answer.
func (c *Connections) answers(ctx context.Context, cluster client.ObjectKey) error {
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return err
	}
	if err := connection.client.Get(ctx, kubeadmConfig, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("querying the API server: %w", err)
	}
	return nil
}

// reader prefers the ClusterCache, whose informers answer without a request.
func (c *Connections) reader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	reader, err := c.cache.GetReader(ctx, cluster)
	if err == nil {
		return reader, nil
	}
	if !errors.Is(err, clustercache.ErrClusterNotConnected) {
		return nil, fmt.Errorf("getting a reader from the cluster cache: %w", err)
	}
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return connection.client, nil
}

// write runs do, for at most writeTimeout, with a client that reads from the API server: writes must
// not depend on a stale cache.
func (c *Connections) write(ctx context.Context, cluster client.ObjectKey, do func(context.Context, client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return err
	}
	return do(ctx, connection.client)
}

// Forget implements Access.
func (c *Connections) Forget(cluster client.ObjectKey) {
	c.Clusters.Forget(cluster)
	c.etcd.forget(cluster)
	c.permitted.Delete(cluster)
	c.initialized.forget(cluster)
	c.observed.forget(cluster)
}
