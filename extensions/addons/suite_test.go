//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// management and workload are the API servers of the two clusters.
var management, workload *envtestenv.Environment

func TestAddons(t *testing.T) {
	envtestenv.Run(t, "Add-ons", &management, envtestenv.Start, func(ctx context.Context) {
		var err error
		workload, err = envtestenv.Start(ctx)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(workload.Stop()).To(Succeed()) })
	})
}
