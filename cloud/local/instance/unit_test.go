// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Instances inherit the service's restrictions, so its unit must not take away anything they need.
func TestUnitLeavesInstancesWhatTheyNeed(t *testing.T) {
	g := NewWithT(t)
	unit, err := os.ReadFile("../../../packaging/foocloud.service")
	g.Expect(err).NotTo(HaveOccurred())
	line := regexp.MustCompile(`(?m)^CapabilityBoundingSet=~(.*)$`).FindSubmatch(unit)
	g.Expect(line).NotTo(BeNil(), "it takes some away")
	for _, name := range strings.Fields(string(line[1])) {
		g.Expect(nodeCapabilities).NotTo(HaveKey(name))
	}
	g.Expect(string(line[1])).NotTo(ContainSubstring("CAP_SYS_NICE"), "cpuset is not turned on for processes with more rights without it")
	g.Expect(string(unit)).To(ContainSubstring("\nKillMode=process\n"), "load balancers outlive the service")
	for _, inherited := range []string{
		// These filter system calls or keep programs from gaining privileges, in pods too.
		"SystemCall", "NoNewPrivileges", "Restrict[A-Z]", "LockPersonality", "MemoryDeny",
		// These give the service mounts of its own, where its next run would not find the
		// instances' disks.
		"Protect", "Private", "ReadOnly", "ReadWrite", "Inaccessible", "TemporaryFileSystem", "Bind", "RootDirectory", "RootImage", "MountFlags",
		// These would also apply to the processes of instances.
		"OOMScoreAdjust", "UMask", "Nice", "IOScheduling", "CPUScheduling",
	} {
		g.Expect(string(unit)).NotTo(MatchRegexp(`(?m)^` + inherited))
	}
}
