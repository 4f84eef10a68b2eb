/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package server_test

import (
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/conformance"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/fault"
)

// The tenant has no limits. All but the machines is the local cloud.
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
