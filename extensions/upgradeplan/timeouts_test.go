//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

// This must hold even while the cloud, which knows the versions, does not answer.
func TestHandlerStandsManyCallsAtOnce(t *testing.T) {
	hanging := func(ctx context.Context, _ client.ObjectKey) ([]string, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, source := range map[string]upgradeplan.Source{
		"a cloud that answers": offering("v1.34.1", "v1.35.4", "v1.36.3"), "a cloud that hangs": upgradeplan.Cached(hanging, clock.RealClock{}),
	} {
		t.Run(name, func(t *testing.T) {
			measured := crowd.Within(func(int) time.Duration {
				return crowd.Slowest99(func(int) { planned(t, source, asking("v1.34.1", "v1.34.1", "v1.36.3")) })
			}, crowd.Reference)
			t.Log(measured)
			NewWithT(t).Expect(measured.Holds()).To(BeTrue(), measured.String())
		})
	}
}
