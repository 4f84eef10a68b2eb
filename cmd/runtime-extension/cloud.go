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

package main

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudclient "github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/options"
)

// newClouds returns the clouds of clusters.
func newClouds(live client.Client, opts *options.Options) (cloudidentity.Clouds, error) {
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
		// Nothing here waits for what happens in a cloud.
		Follow: func(cloudevents.Watcher, cloudevents.Scope) func() { return func() {} },
	}), nil
}
