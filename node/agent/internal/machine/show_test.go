//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// helperEnv makes the test binary show a machine in its own mount namespace and print what it sees
// there.
const helperEnv = "FOO_TEST_MACHINE"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) == "" {
		os.Exit(m.Run())
	}
	if err := see(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func see() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := Show(".", Size{CPUs: 5, MemoryBytes: 3 << 30}); err != nil {
		return err
	}
	paths, err := filepath.Glob("/sys/devices/system/cpu/cpu*")
	if err != nil {
		return err
	}
	nodes, err := filepath.Glob("/sys/devices/system/node/*")
	if err != nil {
		return err
	}
	fmt.Println("processors", len(paths), "nodes", len(nodes))
	for _, v := range views() {
		if name := filepath.Base(v.target); name != "cpu" && name != nodesName {
			data, err := os.ReadFile(v.target)
			if err != nil {
				return err
			}
			first, _, _ := strings.Cut(string(data), "\n")
			fmt.Println(v.target, strings.Join(strings.Fields(first), " "))
		}
		if err := os.WriteFile(v.target, []byte("1\n"), 0); err == nil {
			return fmt.Errorf("%s can be written to", v.target)
		}
		if err := os.WriteFile(filepath.Join(v.target, "x"), nil, 0o600); err == nil {
			return fmt.Errorf("%s can be written to", v.target)
		}
	}
	return ShareMounts()
}

func TestShow(t *testing.T) {
	before, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/proc/self/exe")
	command.Dir, command.Env = t.TempDir(), []string{helperEnv + "=1"}
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, want := range []string{
		"processors 5 nodes 0\n", "/proc/meminfo MemTotal: 3145728 kB\n", "/proc/swaps Filename Type Size Used Priority\n",
		"/proc/sys/vm/overcommit_memory 1\n", "/proc/sys/vm/panic_on_oom 0\n", "/proc/sys/kernel/panic 10\n",
		"/proc/sys/kernel/panic_on_oops 1\n", "/proc/sys/kernel/keys/root_maxkeys 1000000\n", "/proc/sys/kernel/keys/root_maxbytes 25000000\n",
	} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the machine lacks %q:\n%s", want, output)
		}
	}
	if strings.Contains(string(output), strings.TrimSpace(string(before))) {
		t.Error("the machine has the boot ID of the host")
	}
	if after, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err != nil || string(after) != string(before) {
		t.Errorf("the host's boot ID is %s, %v", after, err)
	}
}
