//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"testing"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// environment is both the management cluster and the workload cluster.
var environment *envtestenv.Environment

func TestCleanUp(t *testing.T) { envtestenv.Run(t, "Clean-up", &environment, envtestenv.Start) }
