// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Folder is where an instance keeps the files that are bind-mounted over the kernel's.
const Folder = "/run/foonode/machine"

// Size is the size of a machine.
type Size struct {
	// CPUs is the number of CPUs.
	CPUs int
	// MemoryBytes is the size of the memory in bytes.
	MemoryBytes int64
}

// kernel is what the kernel reports about the host.
type kernel struct {
	meminfo, cpuinfo string
	// uuid is different on each read.
	uuid string
	// allowed lists the numbers of the processors that this program may run on, sorted.
	allowed []int
}

// Paths that are mounted over, and the paths below Folder of the files for them.
const (
	settingsPath = "/proc/sys"
	settingsName = "sys"
	nodesName    = "node"
)

// view mounts the file or folder name, below Folder, on the kernel's path target.
type view struct {
	name, target string
	// optional marks a path that does not exist on every machine.
	optional bool
}

func views() []view {
	all := slices.Grow([]view{
		{name: "meminfo", target: "/proc/meminfo"},
		{name: "cpuinfo", target: "/proc/cpuinfo"},
		{name: "swaps", target: "/proc/swaps"},
		{name: "boot_id", target: settingsPath + "/kernel/random/boot_id"},
		{name: "cpu", target: "/sys/devices/system/cpu"},
		// Without memory nodes, the kubelet reads the processors from the folder above.
		{name: nodesName, target: "/sys/devices/system/node", optional: true},
	}, len(settings))
	for name := range settings {
		all = append(all, view{name: filepath.Join(settingsName, name), target: filepath.Join(settingsPath, name)})
	}
	return all
}

// Show writes the files of a machine of the given size to the folder, and mounts them read-only for
// all programs in this mount namespace.
func Show(folder string, size Size) error {
	host, err := look()
	if err != nil {
		return err
	}
	if err := write(folder, files(host, size)); err != nil {
		return err
	}
	for _, v := range views() {
		if err := v.bind(folder); err != nil {
			return err
		}
	}
	return nil
}

func look() (kernel, error) {
	var k kernel
	for path, text := range map[string]*string{
		"/proc/meminfo": &k.meminfo, "/proc/cpuinfo": &k.cpuinfo, "/proc/sys/kernel/random/uuid": &k.uuid,
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			return k, fmt.Errorf("look at the host's machine: %w", err)
		}
		*text = string(data)
	}
	var err error
	k.allowed, err = allowedCPUs()
	return k, err
}

func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("look at the host's processors: %w", err)
	}
	var numbers []int
	for number := 0; len(numbers) < set.Count(); number++ {
		if set.IsSet(number) {
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// files maps the path of each file, below Folder, to its content.
func files(host kernel, size Size) map[string]string {
	numbers, online := number(host.allowed, size.CPUs)
	all := map[string]string{
		"meminfo": meminfo(host.meminfo, size.MemoryBytes),
		"cpuinfo": cpuinfo(host.cpuinfo, numbers),
		"swaps":   swaps,
		// The kubelet uses it to find out whether its machine was rebooted.
		"boot_id":      host.uuid,
		"cpu/online":   cpuList(online),
		"cpu/present":  cpuList(numbers),
		"cpu/possible": cpuList(numbers),
	}
	for _, number := range numbers {
		topology := fmt.Sprintf("cpu/cpu%d/topology/", number)
		all[topology+"core_id"] = strconv.Itoa(number) + "\n"
		all[topology+"physical_package_id"] = "0\n"
	}
	for name, value := range settings {
		all[filepath.Join(settingsName, name)] = value
	}
	return all
}

func write(folder string, files map[string]string) error {
	// As readable as the originals.
	const folderMode, fileMode = 0o755, 0o444
	if err := os.MkdirAll(filepath.Join(folder, nodesName), folderMode); err != nil {
		return fmt.Errorf("files of the machine: %w", err)
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
			return fmt.Errorf("files of the machine: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), fileMode); err != nil {
			return fmt.Errorf("files of the machine: %w", err)
		}
	}
	return nil
}

func (v view) bind(folder string) error {
	err := unix.Mount(filepath.Join(folder, v.name), v.target, "", unix.MS_BIND, "")
	if v.optional && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the instance's own %s: %w", v.target, err)
	}
	// A bind mount takes other flags only when it is remounted.
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := unix.Mount("", v.target, "", flags, ""); err != nil {
		return fmt.Errorf("make the instance's own %s read-only: %w", v.target, err)
	}
	return nil
}
