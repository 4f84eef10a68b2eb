// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	// clusterQPS is the average number of requests per second to one cluster.
	clusterQPS = 20
	// clusterBurst is how many requests may be sent to one cluster at once.
	clusterBurst = 40
)

// Clusters connects to workload clusters with nothing but their kubeconfig Secrets, for programs
// without a ClusterCache. It keeps a connection to each cluster until the Secret changes or is
// deleted. It is safe for concurrent use.
type Clusters struct {
	direct *direct
	etcd   *etcdClients
}

// NewClusters returns access to workload clusters. It reads Secrets from cached first, which may
// hold only the Secrets with Cluster API's label, and then from live.
func NewClusters(cached, live client.Reader) (*Clusters, error) {
	clients, err := newDirect(secretReader{cached: cached, live: live})
	if err != nil {
		return nil, err
	}
	clients.scheme = clientgoscheme.Scheme
	clients.newMapper = apiutil.NewDynamicRESTMapper
	clients.newLimiter = func() flowcontrol.RateLimiter {
		return flowcontrol.NewTokenBucketRateLimiter(clusterQPS, clusterBurst)
	}
	return &Clusters{direct: clients, etcd: newEtcdClients(etcdIdle)}, nil
}

// Client returns a client for a workload cluster that does not cache. It knows the kinds of
// client-go, and discovers other kinds, as unstructured objects, when they are first used. A
// request takes at most 10 seconds, but may have to wait before it is sent: a cluster gets 20
// requests per second, with bursts of up to 40. A missing kubeconfig Secret is a NotFound error.
// Client does not contact the API server.
func (c *Clusters) Client(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the workload cluster: %w", err)
	}
	return connection.client, nil
}

// Config returns how to connect to the API server of a workload cluster, for requests that are not
// about objects. A request takes at most 10 seconds.
func (c *Clusters) Config(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error) {
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the workload cluster: %w", err)
	}
	return rest.CopyConfig(connection.config), nil
}

// Forget drops everything that is kept for a cluster that no longer exists.
func (c *Clusters) Forget(cluster client.ObjectKey) {
	c.direct.forget(cluster)
	c.etcd.forget(cluster)
}
