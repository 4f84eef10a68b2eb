// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"testing"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Options{
		New: func(*testing.T) cloud.Cloud { return New(Options{}) }, Patience: 10 * time.Second,
		Lose: func(t *testing.T, c cloud.Cloud, instance cloud.Instance) {
			fake, ok := c.(*Cloud)
			if !ok || !fake.LoseInstance(instance.Name) {
				t.Fatalf("instance %s cannot be lost", instance.Name)
			}
			fake.GrowPools()
		},
	})
}
