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

package fake

import (
	"testing"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/conformance"
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
