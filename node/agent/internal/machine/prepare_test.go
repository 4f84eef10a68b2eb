// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDelegateMovesThisProgramAndEnablesAllControllers(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{"cgroup.controllers": "cpuset cpu memory\n", "cgroup.subtree_control": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // an instance may be restarted
		if err := delegate(folder); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"init/cgroup.procs": "0", "cgroup.subtree_control": "+cpuset\n+cpu\n+memory\n"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestDelegateCgroupsLeavesOthersThanVersion2(t *testing.T) {
	folder := t.TempDir()
	if err := DelegateCgroups(folder); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestLinkRun(t *testing.T) {
	cases := map[string]struct {
		before func(old, run string) error
		want   string
	}{
		"absent":          {func(string, string) error { return nil }, ""},
		"a link":          {func(old, run string) error { return os.Symlink(run, old) }, ""},
		"a relative link": {func(old, _ string) error { return os.Symlink("run", old) }, ""},
		"a folder":        {func(old, _ string) error { return os.Mkdir(old, 0o750) }, "containerd's socket is missing there"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			old, run := filepath.Join(folder, "old"), filepath.Join(folder, "run")
			if err := os.Mkdir(run, 0o750); err != nil {
				t.Fatal(err)
			}
			if err := c.before(old, run); err != nil {
				t.Fatal(err)
			}
			err := LinkRun(old, run)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if is, err := filepath.EvalSymlinks(old); err != nil || is != run {
				t.Errorf("it leads to %s, %v", is, err)
			}
		})
	}
}
