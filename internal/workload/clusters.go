// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
)

const (
	// requestTimeout bounds one request to a workload cluster.
	requestTimeout = 10 * time.Second
	// clusterQPS is the average number of requests per second to one cluster.
	clusterQPS = 20
	// clusterBurst is how many requests may be sent to one cluster at once.
	clusterBurst = 40
)

// Clusters connects to workload clusters with nothing but their kubeconfig Secrets, for programs
// without a ClusterCache. It keeps a connection to each cluster until the Secret changes or is
// deleted. It is safe for concurrent use.
type Clusters struct {
	secrets certs.Secrets
	// newMapper returns a mapper for the kinds of a cluster.
	newMapper func(*rest.Config, *http.Client) (meta.RESTMapper, error)
	// newLimiter returns a limiter for the requests to one cluster; nil means no limit.
	newLimiter func() flowcontrol.RateLimiter

	mu          sync.Mutex
	connections map[client.ObjectKey]connection
}

// connection is a client and its inputs.
type connection struct {
	config          *rest.Config
	http            *http.Client
	client          client.Client
	resourceVersion string
}

// NewClusters returns access to workload clusters whose Secrets the reader finds.
func NewClusters(secrets client.Reader) *Clusters {
	return &Clusters{
		secrets:     certs.Secrets{Live: secrets},
		newMapper:   apiutil.NewDynamicRESTMapper,
		newLimiter:  func() flowcontrol.RateLimiter { return flowcontrol.NewTokenBucketRateLimiter(clusterQPS, clusterBurst) },
		connections: map[client.ObjectKey]connection{},
	}
}

// newUnlimited returns access for few requests about a few kinds, which needs neither a limit nor
// API discovery.
func newUnlimited(secrets certs.Secrets) *Clusters {
	known := knownKinds()
	return &Clusters{
		secrets:     secrets,
		newMapper:   func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return known, nil },
		newLimiter:  func() flowcontrol.RateLimiter { return nil },
		connections: map[client.ObjectKey]connection{},
	}
}

// knownKinds maps the few kinds that are used, so that new clients need no API discovery.
func knownKinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("DaemonSet"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	mapper.Add(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), meta.RESTScopeRoot)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	return mapper
}

// Client returns a client for a workload cluster that does not cache. It knows the kinds of
// client-go, and discovers other kinds, as unstructured objects, when they are first used. A
// request takes at most 10 seconds, but may have to wait before it is sent: a cluster gets 20
// requests per second, with bursts of up to 40. A missing kubeconfig Secret is a NotFound error.
// Client does not contact the API server.
func (c *Clusters) Client(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the workload cluster: %w", err)
	}
	return connection.client, nil
}

// Config returns how to connect to the API server of a workload cluster, for requests that are not
// about objects. A request takes at most 10 seconds.
func (c *Clusters) Config(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error) {
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the workload cluster: %w", err)
	}
	return rest.CopyConfig(connection.config), nil
}

// Forget drops everything that is kept for a cluster that no longer exists.
func (c *Clusters) Forget(cluster client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.connections[cluster]; ok {
		known.http.CloseIdleConnections()
		delete(c.connections, cluster)
	}
}

// secret returns a Secret of a cluster.
func (c *Clusters) secret(ctx context.Context, cluster client.ObjectKey, purpose secret.Purpose) (*corev1.Secret, error) {
	found, err := c.secrets.Get(ctx, cluster, purpose)
	if err != nil {
		return nil, fmt.Errorf("getting the Secret %s: %w", secret.Name(cluster.Name, purpose), err)
	}
	return found, nil
}

func (c *Clusters) connect(ctx context.Context, cluster client.ObjectKey) (connection, error) {
	found, err := c.secret(ctx, cluster, secret.Kubeconfig)
	if err != nil {
		if apierrors.IsNotFound(err) {
			c.Forget(cluster)
		}
		return connection{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.connections[cluster]; ok {
		if known.resourceVersion == found.ResourceVersion {
			return known, nil
		}
		known.http.CloseIdleConnections()
	}
	made, err := c.newConnection(found)
	if err != nil {
		return connection{}, err
	}
	c.connections[cluster] = made
	return made, nil
}

func (c *Clusters) newConnection(found *corev1.Secret) (connection, error) {
	config, err := kubeconfig.RESTConfig(found)
	if err != nil {
		return connection{}, err
	}
	config.Timeout = requestTimeout
	config.QPS = -1
	// A limiter in the configuration is shared by the clients of all kinds. Otherwise each would
	// have its own.
	config.RateLimiter = c.newLimiter()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return connection{}, fmt.Errorf("creating an HTTP client from Secret %s: %w", found.Name, err)
	}
	mapper, err := c.newMapper(config, httpClient)
	if err != nil {
		return connection{}, fmt.Errorf("preparing API discovery from Secret %s: %w", found.Name, err)
	}
	made, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: clientgoscheme.Scheme, Mapper: mapper})
	if err != nil {
		return connection{}, fmt.Errorf("creating a client from Secret %s: %w", found.Name, err)
	}
	return connection{config: config, http: httpClient, client: made, resourceVersion: found.ResourceVersion}, nil
}
