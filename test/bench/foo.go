// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
)

// errSlow is the cause when something takes too long.
var errSlow = errors.New("it takes too long")

// fooRun measures one cluster of Foo from applying its objects until it is available.
func fooRun(ctx context.Context, options options, env *environment, turn int, results *results) (err error) {
	run := clusterTimes{Load: loadAverage()}
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	clusters, err := env.bringUp(ctx, fmt.Sprintf("foo-%d", turn), 1)
	if err != nil {
		return err
	}
	if err := env.follow(ctx, clusters, phases...); err != nil {
		return err
	}
	run.Reached = clusters[0].reached
	results.Foo = append(results.Foo, run)
	progress("cluster of Foo, run %d: initialized %s, all Nodes Ready %s, available %s (load %.1f)", turn,
		seconds(run.Reached[phaseInitialized]), seconds(run.Reached[phaseNodes]), seconds(run.end()), run.Load)
	return nil
}

// bringUp applies the objects of a number of clusters.
func (e *environment) bringUp(ctx context.Context, name string, number int) ([]*cluster, error) {
	var clusters []*cluster
	for index := range number {
		unique := fmt.Sprintf("%s-%d", name, index+1)
		objects, err := fooCluster(unique, e.kubernetesVersion)
		if err != nil {
			return nil, err
		}
		made, err := e.apply(ctx, unique, objects)
		if err != nil {
			return nil, err
		}
		clusters = append(clusters, made)
	}
	return clusters, nil
}
