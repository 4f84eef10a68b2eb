//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var (
	env       *envtestenv.Environment
	namespace string
)

func TestInfrastructureAPI(t *testing.T) {
	envtestenv.Run(t, "Infrastructure API v1beta2", &env, envtestenv.Start)
}

var _ = BeforeEach(func(ctx context.Context) {
	var err error
	namespace, err = env.CreateNamespace(ctx, "infrastructure")
	Expect(err).NotTo(HaveOccurred())
})
