//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var suite *infratest.Suite

func TestMachinePool(t *testing.T) {
	infratest.Run(t, "FooMachinePool", &suite, func(ctx context.Context, mgr ctrl.Manager, c *fake.Cloud, events *cloudevents.Events) error {
		return SetupWithManager(ctx, mgr, Options{Clouds: cloudidentity.One(c), Events: events})
	})
}
