// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAwait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "balanced")
	if isDrained(file) {
		t.Error("a Pod of an earlier release, which has no file, is drained")
	}
	if err := os.WriteFile(file, []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	if isDrained(file) {
		t.Error("an instance that load balancers use is drained")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if Await(ended, file) {
		t.Error("an instance that ends is drained")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	drained := make(chan bool)
	go func() { drained <- Await(ctx, file) }()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !<-drained {
		t.Error("the instance is not drained")
	}
}
