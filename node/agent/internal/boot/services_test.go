// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"slices"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func TestServicesUseHalfOfTheCPUs(t *testing.T) {
	for cpus, want := range map[int]string{0: "GOMAXPROCS=1", 1: "GOMAXPROCS=1", 2: "GOMAXPROCS=1", 4: "GOMAXPROCS=2", 9: "GOMAXPROCS=4"} {
		if got := serviceEnvironment(&contract.Instance{CPUs: cpus}); !slices.Contains(got, want) {
			t.Errorf("with %d CPUs, the environment is %q, want %s in it", cpus, got, want)
		}
	}
}
