//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

func TestHandlerStandsManyCallsAtOnce(t *testing.T) {
	source := offering("v1.34.1", "v1.35.4", "v1.36.3")
	measured := crowd.Within(func(int) time.Duration {
		return crowd.Slowest99(func(int) { planned(t, source, asking("v1.34.1", "v1.34.1", "v1.36.3")) })
	}, crowd.Reference)
	t.Log(measured)
	NewWithT(t).Expect(measured.Holds()).To(BeTrue(), measured.String())
}
