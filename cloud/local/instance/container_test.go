// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// Nobody else would remove the log of a runtime that ran when the daemon was killed.
func TestLogsOfAnEarlierRunAreRemoved(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	c := containers{state: filepath.Join(folder, "containers")}
	for _, pattern := range []string{runtimeLogs, runtimeLogs, "state.db"} {
		log, err := os.CreateTemp(folder, pattern)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(log.Close()).To(Succeed())
	}
	g.Expect(c.removeLogs()).To(Succeed())
	g.Expect(os.ReadDir(folder)).To(ConsistOf(HaveField("Name()", HavePrefix("state.db"))))
	g.Expect(c.removeLogs()).To(Succeed())
}
