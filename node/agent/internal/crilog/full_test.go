//go:build integration

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
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestFullDiskLeavesNoHalfLine(t *testing.T) {
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=16k"); err != nil {
		t.Fatalf("a small file system needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(folder, "0.log")
	log, err := Open(path, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if err := log.Line(Stdout, "before"); err != nil {
		t.Fatal(err)
	}
	if err := log.Line(Stdout, strings.Repeat("x", 32<<10)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a line longer than the disk was written with %v", err)
	}
	if err := log.Line(Stdout, "after"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != stamp+" stdout F before\n"+stamp+" stdout F after\n" {
		t.Errorf("log has %d bytes: %.200q", len(got), got)
	}
}
