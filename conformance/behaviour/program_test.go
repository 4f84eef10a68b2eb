// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A shell or "go run" ends at once, and what it has started may not.
func TestStopEndsChildren(t *testing.T) {
	for name, ignored := range map[string]string{"that end": "", "that do not": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			l := &launcher{config: &Config{}, folder: t.TempDir(), grace: 200 * time.Millisecond}
			p, err := l.run(Program{Name: "parent", Command: []string{"sh", "-c", ignored + "sleep 1000 & echo $! > $(DIR)/child; trap - TERM; wait"}}, map[string]string{"DIR": l.folder})
			g.Expect(err).NotTo(HaveOccurred())
			l.processes = append(l.processes, p)
			child := 0
			g.Eventually(func() error {
				content, err := os.ReadFile(filepath.Join(l.folder, "child"))
				if err == nil {
					child, err = strconv.Atoi(strings.TrimSpace(string(content)))
				}
				return err
			}).Should(Succeed())
			g.Expect(running(child)).To(BeTrue())
			l.stop()
			g.Eventually(func() bool { return running(child) }).Should(BeFalse())
		})
	}
}

// running reports whether a process runs; one that waits for its parent to notice its end does not.
func running(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
