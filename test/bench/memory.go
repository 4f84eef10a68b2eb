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
	"context"
	"errors"
	"time"
)

// memoryOfOne measures the memory of one cluster, and the CPU time that it takes when nobody uses it.
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
