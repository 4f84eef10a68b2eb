/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package crilog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

const stamp = "2026-01-02T03:04:05.000000678Z"

func open(t *testing.T) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pod", "c", "0.log")
	log, err := Open(path, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func unexpected(t *testing.T) func(error) {
	t.Helper()
	return func(err error) { t.Errorf("lines are lost: %v", err) }
}

func TestCopyWritesWholeLines(t *testing.T) {
	log, path := open(t)
	if err := log.Copy(Stderr, iotest.OneByteReader(strings.NewReader("one\n\ntwo")), unexpected(t)); err != nil {
		t.Fatal(err)
	}
	want := stamp + " stderr F one\n" + stamp + " stderr F \n" + stamp + " stderr F two\n"
	if got := read(t, path); got != want {
		t.Errorf("log is\n%swant\n%s", got, want)
	}
}

func TestCopySplitsLongLines(t *testing.T) {
	log, path := open(t)
	long := strings.Repeat("x", MaxChunk)
	if err := log.Copy(Stdout, strings.NewReader(long+"yz\nend\n"), unexpected(t)); err != nil {
		t.Fatal(err)
	}
	want := stamp + " stdout P " + long + "\n" + stamp + " stdout F yz\n" + stamp + " stdout F end\n"
	if got := read(t, path); got != want {
		t.Errorf("log has %d bytes, want %d", len(got), len(want))
	}
}

func TestCopyGoesOnAfterLinesAreLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	lost, done := make(chan error, 2), make(chan error, 1)
	reader, writer := io.Pipe()
	go func() {
		err := log.Copy(Stdout, reader, func(err error) { lost <- err })
		_ = reader.Close() // so that no write waits for it
		done <- err
	}()
	// A write to the pipe begins to be taken when Copy is done with the one before.
	for _, text := range []string{"one\n", "two\n", "th"} {
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-lost; !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("lost with %v, want %v", err, syscall.ENOSPC)
	}
	if err := errors.Join(os.Remove(path), log.Reopen()); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write([]byte("ree\n")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writer.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != stamp+" stdout F three\n" {
		t.Errorf("log is %q", got)
	}
	if len(lost) > 0 {
		t.Errorf("one loss was told of twice: %v", <-lost)
	}
}

func TestReopenWritesToTheNewFile(t *testing.T) {
	log, path := open(t)
	if err := log.Line(Stdout, "old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := log.Reopen(); err != nil {
		t.Fatal(err)
	}
	if err := log.Line(Stdout, "new"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != stamp+" stdout F new\n" {
		t.Errorf("new log is %q", got)
	}
	if got := read(t, path+".1"); got != stamp+" stdout F old\n" {
		t.Errorf("old log is %q", got)
	}
}
