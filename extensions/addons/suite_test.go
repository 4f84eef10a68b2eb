//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"testing"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// environment is both the management cluster and the workload cluster.
var environment *envtestenv.Environment

func TestAddons(t *testing.T) { envtestenv.Run(t, "Add-ons", &environment, envtestenv.Start) }
