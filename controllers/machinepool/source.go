// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// poolIndex indexes FooMachines and Machines by pool, so that finding them does not depend on how
// many others the namespace has.
const poolIndex = "foo-pool"

// source is where FooMachines and Machines are read from.
type source struct {
	client.Reader
	// live is true if it is not a cache.
	live bool
	// options returns the list options that select the objects of the pool.
	options func(s *scope) []client.ListOption
}

// fromCache reads without asking the API server.
func fromCache(reader client.Reader) source {
	return source{Reader: reader, options: func(s *scope) []client.ListOption {
		labels := s.poolLabels()
		key := poolKey(labels[clusterv1.ClusterNameLabel], labels[clusterv1.MachinePoolNameLabel])
		return []client.ListOption{
			client.InNamespace(s.pool.Namespace), client.MatchingFields{poolIndex: key}, client.UnsafeDisableDeepCopy,
		}
	}}
}

// fromServer reads the current state from the API server.
func fromServer(reader client.Reader) source {
	return source{Reader: reader, live: true, options: func(s *scope) []client.ListOption {
		return []client.ListOption{client.InNamespace(s.pool.Namespace), client.MatchingLabels(s.poolLabels())}
	}}
}

func addPoolIndex(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range []client.Object{&infrav1.FooMachine{}, &clusterv1.Machine{}} {
		if err := indexer.IndexField(ctx, object, poolIndex, poolKeys); err != nil {
			return fmt.Errorf("indexing %T by pool: %w", object, err)
		}
	}
	return nil
}

func poolKeys(object client.Object) []string {
	labels := object.GetLabels()
	if labels[clusterv1.MachinePoolNameLabel] == "" {
		return nil
	}
	return []string{poolKey(labels[clusterv1.ClusterNameLabel], labels[clusterv1.MachinePoolNameLabel])}
}

func poolKey(cluster, pool string) string { return cluster + "/" + pool }
