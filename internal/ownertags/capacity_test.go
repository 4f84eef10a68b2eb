// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package ownertags

import (
	"testing"

	. "github.com/onsi/gomega"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestNodeCapacity(t *testing.T) {
	g := NewWithT(t)
	capacity, info := NodeCapacity(cloud.InstanceType{CPUs: 2, MemoryBytes: 4 << 30, Architecture: "arm64"})
	g.Expect(capacity.Cpu().String()).To(Equal("2"))
	g.Expect(capacity.Memory().String()).To(Equal("4Gi"))
	g.Expect(info).To(Equal(infrav1.NodeInfo{Architecture: infrav1.ArchitectureArm64, OperatingSystem: "linux"}))
}
