//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"testing"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var env *envtestenv.Environment

func TestControlPlaneAPI(t *testing.T) {
	envtestenv.Run(t, "Control plane API v1beta2", &env, envtestenv.Start)
}
