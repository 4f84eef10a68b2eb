// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package processtest helps to test what starts processes.
package processtest

import (
	"context"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// NewTable returns a table that notices until the end of the test that processes end.
func NewTable(t *testing.T) *process.Table {
	t.Helper()
	table := process.NewTable()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		table.Reap(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return table
}
