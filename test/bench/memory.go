// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"
)

// memoryOfOne measures the memory of one cluster, and its CPU time while idle.
func memoryOfOne(ctx context.Context, options options, env *environment, results *results) (err error) {
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	clusters, err := env.bringUp(ctx, "memory", 1)
	if err != nil {
		return err
	}
	if err := env.follow(ctx, clusters, phases...); err != nil {
		return err
	}
	before, err := env.usage()
	if err != nil {
		return err
	}
	select {
	case <-time.After(options.idle):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	now, err := env.usageWithMemory()
	if err != nil {
		return err
	}
	results.Memory = &memoryUsage{Idle: options.idle, Usage: now.since(before)}
	progress("memory of a cluster: %s", mebibytes(now.total(groupClusters).Memory))
	return nil
}
