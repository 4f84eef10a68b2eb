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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
)

// requestTimeout bounds one request to a workload cluster.
const requestTimeout = 10 * time.Second

// secretReader reads the Secrets of a cluster, including those that a user created without Cluster
// API's label.
type secretReader struct {
	cached client.Reader
	live   client.Reader
}

func (r secretReader) get(ctx context.Context, cluster client.ObjectKey, purpose secret.Purpose) (*corev1.Secret, error) {
	found, err := secret.GetFromNamespacedName(ctx, r.cached, cluster, purpose)
	if apierrors.IsNotFound(err) {
		found, err = secret.GetFromNamespacedName(ctx, r.live, cluster, purpose)
	}
	if err != nil {
		return nil, fmt.Errorf("getting the Secret %s: %w", secret.Name(cluster.Name, purpose), err)
	}
	return found, nil
}

// direct creates clients from kubeconfig Secrets, and keeps each until its Secret changes or is
// deleted.
type direct struct {
	secrets secretReader
	scheme  *runtime.Scheme
	// newMapper returns a mapper for the kinds of a cluster.
	newMapper func(*rest.Config, *http.Client) (meta.RESTMapper, error)
	// newLimiter returns a limiter for the requests to one cluster; nil means no limit.
	newLimiter func() flowcontrol.RateLimiter

	mu      sync.Mutex
	clients map[client.ObjectKey]connection
}

// connection is a client and its inputs.
type connection struct {
	config          *rest.Config
	http            *http.Client
	client          client.Client
	resourceVersion string
}

func newDirect(secrets secretReader) (*direct, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, coordinationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme of workload clusters: %w", err)
		}
	}
	known := knownKinds()
	return &direct{
		secrets:    secrets,
		scheme:     scheme,
		newMapper:  func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return known, nil },
		newLimiter: func() flowcontrol.RateLimiter { return nil },
		clients:    map[client.ObjectKey]connection{},
	}, nil
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

func (d *direct) connect(ctx context.Context, cluster client.ObjectKey) (connection, error) {
	found, err := d.secrets.get(ctx, cluster, secret.Kubeconfig)
	if err != nil {
		if apierrors.IsNotFound(err) {
			d.forget(cluster)
		}
		return connection{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.clients[cluster]; ok {
		if known.resourceVersion == found.ResourceVersion {
			return known, nil
		}
		known.http.CloseIdleConnections()
	}
	made, err := d.newConnection(found)
	if err != nil {
		return connection{}, err
	}
	d.clients[cluster] = made
	return made, nil
}

func (d *direct) newConnection(found *corev1.Secret) (connection, error) {
	config, err := kubeconfig.RESTConfig(found)
	if err != nil {
		return connection{}, err
	}
	config.Timeout = requestTimeout
	config.QPS = -1
	// A limiter in the configuration is shared by the clients of all kinds. Otherwise each would
	// have its own.
	config.RateLimiter = d.newLimiter()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return connection{}, fmt.Errorf("creating an HTTP client from Secret %s: %w", found.Name, err)
	}
	mapper, err := d.newMapper(config, httpClient)
	if err != nil {
		return connection{}, fmt.Errorf("preparing API discovery from Secret %s: %w", found.Name, err)
	}
	made, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: d.scheme, Mapper: mapper})
	if err != nil {
		return connection{}, fmt.Errorf("creating a client from Secret %s: %w", found.Name, err)
	}
	return connection{config: config, http: httpClient, client: made, resourceVersion: found.ResourceVersion}, nil
}

func (d *direct) forget(cluster client.ObjectKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.clients[cluster]; ok {
		known.http.CloseIdleConnections()
		delete(d.clients, cluster)
	}
}
