// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
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

func TestConsoleIsKeptAgainOnceTheDiskHasRoom(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	instance, err := makeConsole(folder)
	g.Expect(err).NotTo(HaveOccurred())
	// The log cannot be created, as on a full disk.
	log := filepath.Join(folder, consoleFile)
	g.Expect(os.Mkdir(log, folderMode)).To(Succeed())
	ended := make(chan struct{})
	done, err := followConsole(folder, ended)
	g.Expect(err).NotTo(HaveOccurred())
	// More than the pipe holds: the instance must not wait for what nobody keeps.
	g.Expect(instance.SetWriteDeadline(time.Now().Add(soon))).To(Succeed())
	for range 4 {
		_, err = instance.Write(bytes.Repeat([]byte("x"), consoleChunk))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(os.Remove(log)).To(Succeed())
	_, err = instance.WriteString("\nagain\n")
	g.Expect(err).NotTo(HaveOccurred())
	close(ended)
	g.Eventually(done, soon).Should(BeClosed())
	text, err := os.ReadFile(log)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(HaveSuffix("\nagain\n"))
}

func TestConsoleIsKeptAgainOnceItCanBeRotated(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	obstacle := filepath.Join(folder, consoleFile+".1")
	g.Expect(os.Mkdir(obstacle, folderMode)).To(Succeed())
	c := &console{folder: folder, limit: rate.NewLimiter(rate.Inf, 0)}
	line := append(bytes.Repeat([]byte("y"), consoleChunk-1), '\n')
	for range 2 * maxConsoleLog / consoleChunk {
		g.Expect(c.write(line)).To(Succeed())
	}
	info, err := os.Stat(filepath.Join(folder, consoleFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Size()).To(BeEquivalentTo(maxConsoleLog), "it does not grow instead")
	g.Expect(os.Remove(obstacle)).To(Succeed())
	g.Expect(c.write([]byte("again\n"))).To(Succeed())
	g.Expect(c.log.Close()).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(folder, consoleFile))).To(BeEquivalentTo("again\n"))
}

// Root in an instance may make the pipe as large as its memory, and would delay its own deletion.
func TestOnlyTheBeginningOfALargeRestIsKept(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	instance, err := makeConsole(folder)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = instance.Close() })
	const size = 1 << 20
	_, err = unix.FcntlInt(instance.Fd(), unix.F_SETPIPE_SZ, size)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = instance.Write(bytes.Repeat([]byte("x"), size))
	g.Expect(err).NotTo(HaveOccurred())
	pipe, err := openConsole(folder)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = pipe.Close() })
	c := &console{folder: folder, limit: rate.NewLimiter(rate.Inf, 0)}
	g.Expect(c.rest(pipe)).To(Succeed())
	g.Expect(c.log.Close()).To(Succeed())
	info, err := os.Stat(filepath.Join(folder, consoleFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Size()).To(BeEquivalentTo(consoleRest))
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
