// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package logfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFileKeepsItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "x.log")
	file, err := Open(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first\n", "abc\n", "second\n", "a line that is longer than the limit\n", "end\n"} {
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "end\n", path + ".1": "a line that is longer than the limit\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", filepath.Base(name), got, err)
		}
	}
}

func TestOpenAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	for range 2 {
		file, err := Open(path, 100)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "x\nx\n" {
		t.Errorf("file holds %q, %v", got, err)
	}
}

// Rotation fails half-way when the disk has no room for another file, and a user may remove a log to make room.
func TestFileContinuesAfterARotationThatFailed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(folder, "x.log")
	file, err := Open(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.Write([]byte("first\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("second\n")); err == nil {
		t.Fatal("a file was made in a folder that is absent")
	}
	if err := os.Mkdir(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"third\n", "x\n"} {
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "third\nx\n" {
		t.Errorf("file holds %q, %v", got, err)
	}
}

func TestTail(t *testing.T) {
	cases := map[string]struct {
		content string
		want    []string
	}{
		"nothing":    {"", nil},
		"less":       {"one\ntwo\n", []string{"one", "two"}},
		"more":       {"one\ntwo\nthree\nfour\n", []string{"two", "three", "four"}},
		"a long one": {strings.Repeat("x", 10000) + "\n", []string{strings.Repeat("x", tailSize-1)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.log")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Tail(path, 3); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("the end is %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := Tail(filepath.Join(t.TempDir(), "absent"), 3); err == nil {
		t.Error("a file that is absent has an end")
	}
}
