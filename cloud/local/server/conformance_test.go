// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/conformance"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// The tenant has no limits. Only the machines and load balancers are fake; everything else is the
// local cloud.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Options{
		New: func(t *testing.T) cloud.Cloud { return newWorld(t).other }, Patience: soon,
		Lose: func(t *testing.T, c cloud.Cloud, instance cloud.Instance) {
			rules, ok := c.(*client.Client)
			if !ok {
				t.Fatalf("%T has no fault rules", c)
			}
			if _, err := rules.EnsureFault(t.Context(), fault.Spec{Name: "lost", Kind: fault.LostInstance, Pool: instance.Pool, Count: 1}); err != nil {
				t.Fatal(err)
			}
		},
	})
}
