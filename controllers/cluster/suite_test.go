//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var suite *infratest.Suite

func TestCluster(t *testing.T) {
	// The clock stands still, so only an event can end a wait.
	start := time.Now()
	infratest.Run(t, "FooCluster", &suite, func(ctx context.Context, mgr ctrl.Manager, c *fake.Cloud, events *cloudevents.Events) error {
		return setupWithClock(ctx, mgr, Options{Clouds: cloudidentity.One(c), Events: events}, func() time.Time { return start })
	})
}
