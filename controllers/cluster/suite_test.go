//go:build integration

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

package cluster

import (
	"context"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var suite *infratest.Suite

func TestCluster(t *testing.T) {
	// The clock stands still, so that no wait ends by itself and what ends one is an event.
	start := time.Now()
	infratest.Run(t, "FooCluster", &suite, func(ctx context.Context, mgr ctrl.Manager, c *fake.Cloud, events *cloudevents.Events) error {
		return SetupWithManager(ctx, mgr, Options{Clouds: cloudidentity.One(c), Events: events, Now: func() time.Time { return start }})
	})
}
