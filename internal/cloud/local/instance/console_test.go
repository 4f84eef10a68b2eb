// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/time/rate"
)

func TestConsoleIsKept(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	instance, err := makeConsole(folder)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = instance.WriteString("before\n")
	g.Expect(err).NotTo(HaveOccurred())

	ended := make(chan struct{})
	done, err := followConsole(folder, ended)
	g.Expect(err).NotTo(HaveOccurred())
	log := func() string {
		text, _ := os.ReadFile(filepath.Join(folder, consoleFile))
		return string(text)
	}
	g.Eventually(log, soon).Should(Equal("before\n"), "what was said before anybody listened is kept too")
	_, err = instance.WriteString("after\n")
	g.Expect(err).NotTo(HaveOccurred())
	close(ended)
	g.Eventually(done, soon).Should(BeClosed())
	g.Expect(log()).To(Equal("before\nafter\n"), "and what is said last")

	// A new daemon continues the same log.
	_, err = makeConsole(folder)
	g.Expect(err).NotTo(HaveOccurred())
	ended = make(chan struct{})
	_, err = followConsole(folder, ended)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { close(ended) })
	_, err = instance.WriteString("again\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(log, soon).Should(HaveSuffix("after\nagain\n"))
}

func TestInstancesOfAnEarlierVersionHaveNoConsole(t *testing.T) {
	g := NewWithT(t)
	done, err := followConsole(t.TempDir(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeClosed())
}

func TestConsoleIsBounded(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	c := &console{folder: folder, limit: rate.NewLimiter(rate.Inf, 0)}
	line := append(bytes.Repeat([]byte("y"), consoleChunk-1), '\n')
	for range 5 * maxConsoleLog / consoleChunk {
		g.Expect(c.write(line)).To(Succeed())
	}
	g.Expect(c.write([]byte("last\n"))).To(Succeed())
	g.Expect(c.log.Close()).To(Succeed())
	total := int64(0)
	for _, name := range []string{consoleFile, consoleFile + ".1"} {
		info, err := os.Stat(filepath.Join(folder, name))
		g.Expect(err).NotTo(HaveOccurred())
		total += info.Size()
	}
	g.Expect(total).To(And(BeNumerically(">", maxConsoleLog), BeNumerically("<=", 2*maxConsoleLog+consoleChunk)))
	text, err := os.ReadFile(filepath.Join(folder, consoleFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(HaveSuffix("last\n"))
	entries, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(2))
}
