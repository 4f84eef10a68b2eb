// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

func TestLogIsFollowedFromFileToFile(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir()}}
	folder := filepath.Join(d.folder("one"), "private", "log")
	g.Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	path := filepath.Join(folder, kubeletLog)
	say := func(line string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = file.WriteString(line + "\n")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(file.Close()).To(Succeed())
	}
	rotate := func() { g.Expect(os.Rename(path, path+".1")).To(Succeed()) }

	say("zero")
	log, err := d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet, Follow: true})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = log.Close() })
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(log); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	hears := func(line string) {
		g.Eventually(lines, soon).Should(Receive(Equal(line)), "what is written is read soon, and in its order")
	}
	hears("zero")
	say("one")
	hears("one")

	say("last of its file")
	rotate()
	say("two")
	hears("last of its file")
	hears("two")
	rotate()
	say("three")
	say("four")
	hears("three")
	hears("four")

	g.Expect(os.RemoveAll(folder)).To(Succeed())
	g.Eventually(lines, soon).Should(BeClosed(), "nobody writes any more")
}

func TestAFollowedLogEndsBeforeItsDiskIsUnmounted(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir()}}
	folder := filepath.Join(d.folder("one"), "private", "log")
	g.Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, kubeletLog), []byte("line\n"), 0o600)).To(Succeed())
	for range 2 {
		log, err := d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet, Follow: true})
		g.Expect(err).NotTo(HaveOccurred())
		text := make(chan string)
		go func() {
			all, _ := io.ReadAll(log)
			_ = log.Close()
			text <- string(all)
		}()
		d.unmounts.announce("two")
		g.Consistently(text, "20ms").ShouldNot(Receive())
		d.unmounts.announce("one")
		g.Eventually(text, soon).Should(Receive(Equal("line\n")))
	}
}
