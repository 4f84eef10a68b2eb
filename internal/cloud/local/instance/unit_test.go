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

// Instances inherit what systemd leaves the service, so its unit may take away nothing that they need.
func TestUnitLeavesInstancesWhatTheyNeed(t *testing.T) {
	g := NewWithT(t)
	unit, err := os.ReadFile("../../../../packaging/systemd/foocloud.service")
	g.Expect(err).NotTo(HaveOccurred())
	line := regexp.MustCompile(`(?m)^CapabilityBoundingSet=~(.*)$`).FindSubmatch(unit)
	g.Expect(line).NotTo(BeNil(), "it takes some away")
	for _, name := range strings.Fields(string(line[1])) {
		g.Expect(nodeCapabilities).NotTo(HaveKey(name))
	}
	g.Expect(string(line[1])).NotTo(ContainSubstring("CAP_SYS_NICE"), "cpuset is not turned on for processes with more rights without it")
	g.Expect(string(unit)).To(ContainSubstring("\nKillMode=process\n"), "load balancers outlive the service")
	for _, inherited := range []string{
		// What filters system calls, or keeps programs from getting more rights: in pods too.
		"SystemCall", "NoNewPrivileges", "Restrict[A-Z]", "LockPersonality", "MemoryDeny",
		// What gives the service mounts of its own, among which the next one does not find the disks of instances.
		"Protect", "Private", "ReadOnly", "ReadWrite", "Inaccessible", "TemporaryFileSystem", "Bind", "RootDirectory", "RootImage", "MountFlags",
		// What processes of instances would have too.
		"OOMScoreAdjust", "UMask", "Nice", "IOScheduling", "CPUScheduling",
	} {
		g.Expect(string(unit)).NotTo(MatchRegexp(`(?m)^` + inherited))
	}
}
