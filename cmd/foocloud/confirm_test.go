// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

// Only yes is a yes.
func TestConfirm(t *testing.T) {
	for keys, want := range map[string]error{
		"y\n": nil, "YES\n": nil, "\n": errNotConfirmed, "n\n": errNotConfirmed, "\x04": errNotConfirmed,
	} {
		t.Run(strconv.Quote(keys), func(t *testing.T) {
			g := NewWithT(t)
			user, program, err := pty.Open()
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _, _ = program.Close(), user.Close() })
			_, err = user.WriteString(keys)
			g.Expect(err).NotTo(HaveOccurred())
			command := &cobra.Command{}
			command.SetContext(t.Context())
			command.SetIn(program)
			command.SetErr(io.Discard)
			err = confirm(command, "Sure?")
			if want == nil {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(want))
			g.Expect(report(command, err)).To(Equal(exitUsage))
		})
	}
}

func TestAnswer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(readLine(t.Context(), strings.NewReader("y\nmore"))).To(Equal("y\n"))

	// Nobody answers, and the user presses Ctrl-C.
	reader, writer, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _, _ = writer.Close(), reader.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := readLine(ctx, reader)
		ended <- err
	}()
	g.Consistently(ended).ShouldNot(Receive())
	cancel()
	g.Eventually(ended).Should(Receive(MatchError(context.Canceled)))
}

// Whoever names the wrong folder must not believe that its cloud is gone.
func TestDestroyOfNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may destroy a cloud")
	}
	missing := t.TempDir() + "/missing"
	NewWithT(t).Expect(runCommand("destroy", "--yes", "--state-dir="+missing)).To(Equal(
		said{out: "nothing to remove: there is no folder " + missing + "\n"}))
}
