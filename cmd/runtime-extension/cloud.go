// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/clouds"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// newClouds returns a resolver that finds the cloud of a cluster.
func newClouds(live client.Client, opts *manager.Options) (cloudidentity.Clouds, error) {
	own, err := clouds.OfFlags(opts)
	if err != nil {
		return nil, err
	}
	return cloudidentity.NewResolver(cloudidentity.Options{
		Client: live, Secrets: live, Default: own, Connect: clouds.Connect,
		// Nothing here waits for cloud events.
		Follow: func(cloudevents.Watcher, cloudevents.Scope) func() { return func() {} },
	}), nil
}
