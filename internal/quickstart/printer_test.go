// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"testing"
	"time"

	"github.com/creack/pty"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
)

func TestPrinterOnATerminal(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	user, program, err := pty.Open()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _, _ = program.Close(), user.Close() })
	resize := func(columns uint16) {
		g.Expect(pty.Setsize(user, &pty.Winsize{Rows: 25, Cols: columns})).To(Succeed())
	}
	resize(80)
	screen := gbytes.BufferReader(user)
	say := newPrinter(program)
	say.waitingFor("the moon, which is far away")
	say.draw()
	g.Eventually(screen, time.Minute).Should(gbytes.Say(`^\r\x1b\[K +\d+\.\ds  waiting for the moon, which is far away`))
	resize(30)
	say.draw()
	say.done("moon reached")
	g.Eventually(screen, time.Minute).Should(gbytes.Say(`^\r\x1b\[K +\d+\.\ds  waiting for the moo\r\x1b\[K +\d+\.\ds  moon reached\r\n`), "the line fits the terminal")
	say.end()
	say.draw()
	say.note("over")
	g.Eventually(screen, time.Minute).Should(gbytes.Say(`^\r\x1b\[K\r\x1b\[K +over\r\n`), "nothing is drawn any more")
}
