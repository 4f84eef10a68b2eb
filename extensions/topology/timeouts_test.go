//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

// This test runs with the tests that run one package at a time, because others would use up the
// CPU.
func TestHandlersStandManyCallsAtOnce(t *testing.T) {
	patches := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", 3)
	variables, err := topology.NewVariables()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	checking := recorded[runtimehooksv1.ValidateTopologyRequest](t, "validate-topology.foo", 3)
	for name, call := range map[string]func(int){
		"GeneratePatches":  func(int) { patchesOf(t, patches.DeepCopy()) },
		"ValidateTopology": func(int) { checked(t, checking.DeepCopy()) },
		"DiscoverVariables": func(int) {
			variables.DiscoverVariables(t.Context(), &runtimehooksv1.DiscoverVariablesRequest{}, &runtimehooksv1.DiscoverVariablesResponse{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			measured := crowd.Within(func(int) time.Duration { return crowd.Slowest99(call) }, crowd.Reference)
			t.Log(measured)
			NewWithT(t).Expect(measured.Holds()).To(BeTrue(), measured.String())
		})
	}
}
