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
	run(t, func(*testing.T) cloud.Cloud { return New(Options{}) })
}

func TestConformanceWithLateAddresses(t *testing.T) {
	run(t, func(t *testing.T) cloud.Cloud {
		c := New(Options{LateAddresses: true})
		events, err := c.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for event := range events {
				if event.Kind == cloud.EventLoadBalancer {
					c.AssignAddress(event.Name)
				}
			}
		}()
		return c
	})
}

func run(t *testing.T, newCloud func(*testing.T) cloud.Cloud) {
	t.Helper()
	conformance.Run(t, conformance.Options{
		New: newCloud, Patience: 10 * time.Second,
		Lose: func(t *testing.T, c cloud.Cloud, instance cloud.Instance) {
			fake, ok := c.(*Cloud)
			if !ok || !fake.LoseInstance(instance.Name) {
				t.Fatalf("instance %s cannot be lost", instance.Name)
			}
			fake.GrowPools()
		},
		LosePool: func(t *testing.T, c cloud.Cloud, name string) {
			if fake, ok := c.(*Cloud); !ok || !fake.LosePool(name) {
				t.Fatalf("pool %s cannot be lost", name)
			}
		},
	})
}
