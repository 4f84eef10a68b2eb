// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process/processtest"
)

func TestNewPodsFindsFirstProcessesOfContainers(t *testing.T) {
	proc, tasks := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"1/status":    "Name:\tfoonode\nPid:\t1\nNSpid:\t1\n",
		"40/status":   "Name:\tcontainerd-shim\nPid:\t40\nNSpid:\t40\n",
		"41/status":   "Name:\tetcd\nPid:\t41\nNSpid:\t41\t1\n",
		"42/status":   "Name:\tsh\nPid:\t42\nNSpid:\t42\t7\n",
		"43/status":   "Name:\tinner\nPid:\t43\nNSpid:\t43\t9\t1\n",
		"44/cmdline":  "it has ended\n",
		"self/status": "NSpid:\t41\t1\n",
	} {
		write(t, filepath.Join(proc, name), content)
	}
	for name, content := range map[string]string{"etcd/init.pid": "41", "host/init.pid": "40", "other/config.json": "{}"} {
		write(t, filepath.Join(tasks, name), content)
	}
	got := newPods(proc, tasks)
	if !slices.Equal(got.pids, []int{43}) || !slices.Equal(got.stores, []int{41}) {
		t.Errorf("processes are %v and then %v, want 43 and then 41", got.pids, got.stores)
	}
	if want := []string{filepath.Join(tasks, "etcd")}; !slices.Equal(got.folders, want) {
		t.Errorf("folders are %v, want %v", got.folders, want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// container starts a program that prints its process ID once the script has run, and returns that
// ID.
func container(t *testing.T, table *process.Table, script string) int {
	t.Helper()
	read, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	proc, err := table.Start(process.Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", script + "; echo $$; while :; do sleep 0.01; done"}, Env: os.Environ(), Stdout: output,
	})
	_ = output.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proc.Stop(context.Background(), 0, 0)
		_ = read.Close()
	})
	said := make([]byte, 20)
	n, err := read.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(said[:n-1]))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestEndWaitsForContainersAndTheirLogs(t *testing.T) {
	table := processtest.NewTable(t)
	const grace = 50 * time.Millisecond
	heeds := container(t, table, "trap 'exit 0' TERM")
	folder := filepath.Join(t.TempDir(), "task")
	write(t, filepath.Join(folder, "init.pid"), strconv.Itoa(heeds))
	if err := (pods{pids: []int{heeds}, folders: []string{folder}}).end(grace); err == nil {
		t.Error("nobody waited for containerd to take the folder away")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := (pods{pids: []int{heeds}, folders: []string{folder}}).end(10 * time.Second); err != nil {
		t.Error(err)
	}
	ignores := container(t, table, "trap '' TERM")
	if err := (pods{pids: []int{ignores}}).end(grace); err == nil {
		t.Error("nobody waited for a program that does not end")
	}
	if err := (pods{pids: []int{ignores}}).end(10 * time.Second); err != nil {
		t.Errorf("it was not killed: %v", err)
	}
	if err := (pods{}).end(0); err != nil {
		t.Error(err)
	}
}

func TestEndLeavesStoresToTheOthers(t *testing.T) {
	table := processtest.NewTable(t)
	file := filepath.Join(t.TempDir(), "ended")
	store := container(t, table, "trap 'echo store >> "+file+"; exit 0' TERM")
	user := container(t, table, "trap 'sleep 0.1; echo user >> "+file+"; exit 0' TERM")
	if err := (pods{pids: []int{user}, stores: []int{store}}).end(10 * time.Second); err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(file); err != nil || string(said) != "user\nstore\n" {
		t.Errorf("they ended as %q (%v)", said, err)
	}
}
