//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// The shortest form: the times do not matter here, only that pools are measured, and that nothing is
// written to a settled pool.
func TestMachinePools(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	chosen := options{runs: 1, clusters: []int{1}, pools: []int{5}, timeout: 5 * time.Minute}
	results := newResults(chosen)
	if err := measureMachinePools(t.Context(), chosen, nil, results); err != nil {
		t.Fatal(err)
	}
	if err := results.check(); err != nil {
		t.Error(err)
	}
	for _, unit := range append([]string{unitUp, unitDown}, unitsPerMachine...) {
		if got := median(results.numbers(benchmarkPool(5), unit)); got <= 0 {
			t.Errorf("%s is %g", unit, got)
		}
	}
}
