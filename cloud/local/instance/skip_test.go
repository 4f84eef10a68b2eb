// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

func TestLogStartsWhereTheReaderWants(t *testing.T) {
	const text = `starting
time=2026-01-01T00:00:10.5Z level=INFO msg=one
[init] two
time="2026-01-01T00:00:20Z" level=info msg=three
I0101 00:00:30.000000       1 main.go:1] four
five
`
	since := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	for name, test := range map[string]struct {
		log  engine.Log
		want string
	}{
		"everything":          {engine.Log{}, "starting"},
		"the last two lines":  {engine.Log{Tail: ptr.To(2)}, "I0101 00:00:30"},
		"no lines":            {engine.Log{Tail: ptr.To(0)}, ""},
		"more than there are": {engine.Log{Tail: ptr.To(100)}, "starting"},
		"since a time":        {engine.Log{Since: since(11)}, `time="2026`},
		"since a klog time":   {engine.Log{Since: since(21)}, "I0101"},
		"since later":         {engine.Log{Since: since(31)}, ""},
		"both, few lines":     {engine.Log{Since: since(5), Tail: ptr.To(1)}, "five"},
		"both, many lines":    {engine.Log{Since: since(30), Tail: ptr.To(5)}, "I0101"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "log")
			g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
			file, err := os.Open(path)
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = file.Close() }()
			g.Expect(skip(file, test.log)).To(Succeed())
			rest, err := io.ReadAll(file)
			g.Expect(err).NotTo(HaveOccurred())
			if test.want == "" {
				g.Expect(string(rest)).To(BeEmpty())
				return
			}
			g.Expect(string(rest)).To(HavePrefix(test.want))
			g.Expect(string(rest)).To(HaveSuffix("five\n"))
		})
	}
}

func TestLongLinesCountOnce(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("x", 100_000)
	start, err := startOf(strings.NewReader(long+"\nlast\n"), engine.Log{Tail: ptr.To(2)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(start).To(BeZero())
	start, err = startOf(strings.NewReader("first\n"+long), engine.Log{Tail: ptr.To(1)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(start).To(BeEquivalentTo(len("first\n")))
}

// An instance can make its log as large as it likes, without using any disk.
func TestOnlyTheEndOfALargeLogIsRead(t *testing.T) {
	for name, test := range map[string]struct {
		log  engine.Log
		most int
	}{
		"its last line": {engine.Log{Tail: ptr.To(1)}, len("last\n")},
		"everything":    {engine.Log{}, maxShown},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file, err := os.Create(filepath.Join(t.TempDir(), "log"))
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = file.Close() }()
			_, err = file.WriteAt([]byte("\nlast\n"), 1<<40)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(skip(file, test.log)).To(Succeed())
			rest, err := io.ReadAll(io.LimitReader(file, 2*maxShown))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(rest)).To(BeNumerically("<=", test.most))
			g.Expect(bytes.HasSuffix(rest, []byte("last\n"))).To(BeTrue())
		})
	}
}

func TestYearOfKlogTimes(t *testing.T) {
	g := NewWithT(t)
	newYear := time.Date(2027, 1, 1, 0, 0, 30, 0, time.UTC)
	g.Expect(written([]byte("I1231 23:59:59.000000 1 a.go:1] x"), newYear).Year()).To(Equal(2026))
	g.Expect(written([]byte("E0101 00:00:29.000000 1 a.go:1] x"), newYear).Year()).To(Equal(2027))
	g.Expect(written([]byte("no time"), newYear)).To(BeZero())
}
