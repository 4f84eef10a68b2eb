// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudclient "github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// newClouds returns a resolver that finds the cloud of a cluster.
func newClouds(live client.Client, opts *manager.Options) (cloudidentity.Clouds, error) {
	foocloud, err := cloudclient.NewClient(cloudclient.Options{
		Endpoint: opts.CloudEndpoint, TokenFile: opts.CloudTokenFile, CAFile: opts.CloudCAFile,
	})
	if err != nil {
		return nil, fmt.Errorf("cloud: %w", err)
	}
	return cloudidentity.NewResolver(cloudidentity.Options{
		Client: live, Secrets: live, Default: foocloud,
		Connect: func(account cloudidentity.Account) (cloudidentity.Connection, error) {
			return cloudclient.NewClient(cloudclient.Options{
				Endpoint: account.Endpoint, CA: account.CA, Tenant: account.Tenant, Token: account.Token,
			})
		},
		// Nothing here waits for cloud events.
		Follow: func(cloudevents.Watcher, cloudevents.Scope) func() { return func() {} },
	}), nil
}
