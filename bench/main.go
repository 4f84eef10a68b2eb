// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures Foo on this machine and compares it with alternatives: how long a bare
// kubeadm init takes in an instance, how long a whole cluster takes and where that time is spent,
// what many clusters at once cost, how much memory a cluster needs, what a FooControlPlane costs
// compared with a KubeadmControlPlane on the same machines, and what a machine costs Foo's
// controllers in a small and in a large pool.
//
// For pools, it starts a kube-apiserver, and runs Foo's controllers with a fake cloud in its own
// process, because the machine could not hold thousands of instances. These results are the cost of
// the controllers only. For everything else, it starts its own management cluster with
// bin/foo, creates clusters of the flavor fast, and uses only what users of Foo have: the
// objects of Cluster API, the API of the cloud, and the processes of the machine. It leaves nothing
// behind.
//
// Absolute times on a busy machine mean little. Therefore each run has the machine's load before
// it, compared things are measured alternately, and the ratios are what counts. benchstat compares
// the output of two calls; memory is the proportional set size (PSS).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func main() { os.Exit(cli.Main(newCommand(bench), cli.IsUsage)) }

// stage is a set of parts that share a management cluster.
type stage struct {
	parts []string
	// arguments of quickstart in addition to the arguments of all stages; nil for a stage that needs no
	// management cluster.
	arguments func(options) []string
	measure   func(context.Context, options, *environment, *results) error
}

var stages = []stage{{
	parts: []string{partBare, partFoo, partInMemory, partMany, partMemory}, arguments: clusterArguments, measure: measureClusters,
}, {
	parts: []string{partControlPlanes}, arguments: controlPlaneArguments, measure: compareControlPlanes,
}, {
	parts: []string{partMachinePools}, measure: measureMachinePools,
}}

// bench measures all parts, and prints its results so far even if it fails.
func bench(ctx context.Context, options options) error {
	results := newResults(options)
	var errs []error
	for _, stage := range stages {
		if options.parts.HasAny(stage.parts...) && ctx.Err() == nil {
			errs = append(errs, stage.run(ctx, options, results))
		}
	}
	return errors.Join(append(errs, results.write(os.Stdout, options.json), results.check())...)
}

func (s stage) run(ctx context.Context, options options, results *results) error {
	if s.arguments == nil {
		return s.measure(ctx, options, nil, results)
	}
	env, err := startEnvironment(ctx, options, s.arguments(options)...)
	if err != nil {
		return err
	}
	return errors.Join(s.measure(ctx, options, env, results), env.stop())
}

// clusterArguments runs the control plane provider that the in-memory provider is used with.
func clusterArguments(options options) []string {
	if options.parts.Has(partInMemory) {
		return []string{"--kubeadm-control-plane"}
	}
	return nil
}

func measureClusters(ctx context.Context, options options, env *environment, results *results) (err error) {
	if options.parts.Has(partInMemory) {
		if err := startInMemory(ctx, env); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, env.inMemory.interrupt()) }()
	}
	if err := sideBySide(ctx, env, results); err != nil {
		return err
	}
	if options.parts.Has(partMany) {
		for _, number := range options.clusters {
			if err := atOnce(ctx, env, number, results); err != nil {
				return fmt.Errorf("%d clusters at once: %w", number, err)
			}
		}
	}
	if options.parts.Has(partMemory) {
		return memoryOfOne(ctx, env, results)
	}
	return nil
}

// atOnce measures a number of clusters at once, and as many of the in-memory provider if it runs.
func atOnce(ctx context.Context, env *environment, number int, results *results) error {
	if err := manyRun(ctx, env, number, results); err != nil {
		return err
	}
	if env.inMemory == nil {
		return nil
	}
	return manyInMemoryRun(ctx, env, number, results)
}

// contender is something that is measured alternately with others.
type contender struct {
	part string
	run  func(ctx context.Context, env *environment, turn int, results *results) error
}

var contenders = []contender{{partBare, bareRun}, {partFoo, fooRun}, {partInMemory, inMemoryRun}}

// sideBySide alternates between the contenders, so that other load on the machine affects all of
// them.
func sideBySide(ctx context.Context, env *environment, results *results) error {
	for turn := 1; turn <= env.runs; turn++ {
		for _, contender := range contenders {
			if !env.parts.Has(contender.part) {
				continue
			}
			if err := contender.run(ctx, env, turn, results); err != nil {
				return fmt.Errorf("%s, run %d: %w", contender.part, turn, err)
			}
		}
	}
	return nil
}
