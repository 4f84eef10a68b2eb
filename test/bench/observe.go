// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// newScheme returns a scheme with all kinds that are read.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return direct(config), nil
}

// direct disables rate limits and proxies for requests.
func direct(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	return config
}

// observer keeps a copy of the objects in the management cluster, and signals when one has changed.
type observer struct {
	client.Reader
	// changes receives a value when something has changed since the last receive.
	changes chan struct{}
}

// observe starts to watch. It ends with ctx.
func observe(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) (*observer, error) {
	watched, err := cache.New(config, cache.Options{
		Scheme: scheme, DefaultTransform: cache.TransformStripManagedFields(),
		DefaultNamespaces: map[string]cache.Config{benchNamespace: {}},
	})
	if err != nil {
		return nil, err
	}
	o := &observer{Reader: watched, changes: make(chan struct{}, 1)}
	go func() { _ = watched.Start(ctx) }() // its only error is the end of ctx
	if !watched.WaitForCacheSync(ctx) {    // before it has started there is nothing to sync
		return nil, context.Cause(ctx)
	}
	for _, object := range []client.Object{&clusterv1.Cluster{}, &clusterv1.Machine{}, &infrav1.FooMachine{}} {
		informer, err := watched.GetInformer(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(o.handler()); err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return o, nil
}

func (o *observer) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.signal() },
		UpdateFunc: func(any, any) { o.signal() },
		DeleteFunc: func(any) { o.signal() },
	}
}

func (o *observer) signal() {
	select {
	case o.changes <- struct{}{}:
	default: // a signal is already pending
	}
}

// observeNodes starts to watch the Nodes of a workload cluster. It ends with ctx.
func (o *observer) observeNodes(ctx context.Context, kubeconfig []byte) (corev1listers.NodeLister, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(direct(config))
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	nodes := factory.Core().V1().Nodes()
	if _, err := nodes.Informer().AddEventHandler(o.handler()); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	return nodes.Lister(), nil
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func isControlPlaneNode(node *corev1.Node) bool {
	_, ok := node.Labels["node-role.kubernetes.io/control-plane"]
	return ok
}
