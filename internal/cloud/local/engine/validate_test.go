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

package engine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// A pool may be as large as a FooMachinePool may be: 10,000.
func TestPoolsMayBeAsLargeAsFooMachinePools(t *testing.T) {
	g := NewWithT(t)
	e := New(Options{
		InstanceTypes: []cloud.InstanceType{{Name: "small"}},
		Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
	})
	spec := cloud.PoolSpec{
		Name: "pool", HostnamePrefix: "p", Size: 10000, Revision: "r",
		Template: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3"},
	}
	g.Expect(e.validatePool(spec)).To(Succeed())
	spec.Size++
	g.Expect(e.validatePool(spec)).To(MatchError(cloud.IsInvalid, "an InvalidError"))
}
