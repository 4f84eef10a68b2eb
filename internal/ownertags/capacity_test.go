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

package ownertags

import (
	"testing"

	. "github.com/onsi/gomega"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

func TestNodeCapacity(t *testing.T) {
	g := NewWithT(t)
	capacity, info := NodeCapacity(cloud.InstanceType{CPUs: 2, MemoryBytes: 4 << 30, Architecture: "arm64"})
	g.Expect(capacity.Cpu().String()).To(Equal("2"))
	g.Expect(capacity.Memory().String()).To(Equal("4Gi"))
	g.Expect(info).To(Equal(infrav1.NodeInfo{Architecture: infrav1.ArchitectureArm64, OperatingSystem: "linux"}))
}
