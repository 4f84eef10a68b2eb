// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Clouds finds the cloud of each cluster. The cloud that it returns is never nil, but may refuse
// every call.
type Clouds interface {
	// OfFooCluster returns the cloud that a FooCluster uses.
	OfFooCluster(ctx context.Context, fooCluster *infrav1.FooCluster) cloud.Cloud
	// OfCluster returns the cloud of the FooCluster of this Cluster, which may be gone already.
	OfCluster(ctx context.Context, cluster client.ObjectKey) cloud.Cloud
}

// One returns Clouds in which all clusters use the same cloud.
func One(c cloud.Cloud) Clouds { return one{c} }

type one struct{ cloud cloud.Cloud }

func (o one) OfFooCluster(context.Context, *infrav1.FooCluster) cloud.Cloud { return o.cloud }

func (o one) OfCluster(context.Context, client.ObjectKey) cloud.Cloud { return o.cloud }
