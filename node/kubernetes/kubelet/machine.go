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

package kubelet

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	"golang.org/x/sys/unix"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
)

// The node agent tells the kubelet what machine it is on through these environment variables.
const (
	// CPUsEnv is the number of CPUs of the instance's type, a positive integer.
	CPUsEnv = "FOO_INSTANCE_CPUS"
	// MemoryEnv is the memory of the instance's type in bytes, a positive integer.
	MemoryEnv = "FOO_INSTANCE_MEMORY_BYTES"
)

// machine is a cadvisor that reports the capacity of the instance's type, and kernel, OS and disk as they are.
type machine struct {
	cpus   int
	memory uint64
}

var _ cadvisor.Interface = &machine{}

func newMachine() (*machine, error) {
	cpus, err := strconv.Atoi(os.Getenv(CPUsEnv))
	if err != nil || cpus < 1 {
		return nil, fmt.Errorf("environment variable %s is %q, want a positive number of CPUs", CPUsEnv, os.Getenv(CPUsEnv))
	}
	memory, err := strconv.ParseUint(os.Getenv(MemoryEnv), 10, 63)
	if err != nil || memory == 0 {
		return nil, fmt.Errorf("environment variable %s is %q, want a positive number of bytes", MemoryEnv, os.Getenv(MemoryEnv))
	}
	return &machine{cpus: cpus, memory: memory}, nil
}

func (m *machine) Start() error { return nil }

func (m *machine) ContainerInfoV2(name string, _ cadvisorapiv2.RequestOptions) (map[string]cadvisorapiv2.ContainerInfo, error) {
	now := time.Now()
	return map[string]cadvisorapiv2.ContainerInfo{name: {
		Spec: cadvisorapiv2.ContainerSpec{
			CreationTime: now,
			HasCpu:       true,
			HasMemory:    true,
			Memory:       cadvisorapiv2.MemorySpec{Limit: m.memory},
		},
		Stats: []*cadvisorapiv2.ContainerStats{{
			Timestamp: now,
			Cpu:       &cadvisorapi.CpuStats{},
			CpuInst:   &cadvisorapiv2.CpuInstStats{},
			Memory:    &cadvisorapi.MemoryStats{},
		}},
	}}, nil
}

func (m *machine) GetRequestedContainersInfo(string, cadvisorapiv2.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	return map[string]*cadvisorapi.ContainerInfo{}, nil
}

func (m *machine) MachineInfo() (*cadvisorapi.MachineInfo, error) {
	id := readID("/etc/machine-id")
	return &cadvisorapi.MachineInfo{
		Timestamp:      time.Now(),
		NumCores:       m.cpus,
		MemoryCapacity: m.memory,
		MachineID:      id,
		SystemUUID:     id,
		BootID:         readID("/proc/sys/kernel/random/boot_id"),
	}, nil
}

func (m *machine) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	var uname unix.Utsname
	if err := unix.Uname(&uname); err != nil {
		return nil, fmt.Errorf("uname: %w", err)
	}
	return &cadvisorapi.VersionInfo{
		KernelVersion:      unix.ByteSliceToString(uname.Release[:]),
		ContainerOsVersion: osName(),
	}, nil
}

func (m *machine) ImagesFsInfo(context.Context) (cadvisorapiv2.FsInfo, error) { return fsInfo("/") }

func (m *machine) RootFsInfo() (cadvisorapiv2.FsInfo, error) { return fsInfo("/") }

func (m *machine) ContainerFsInfo(context.Context) (cadvisorapiv2.FsInfo, error) { return fsInfo("/") }

func (m *machine) GetDirFsInfo(path string) (cadvisorapiv2.FsInfo, error) { return fsInfo(path) }

func fsInfo(path string) (cadvisorapiv2.FsInfo, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return cadvisorapiv2.FsInfo{}, fmt.Errorf("statfs %s: %w", path, err)
	}
	size := uint64(fs.Bsize)
	inodes, free := fs.Files, fs.Ffree
	return cadvisorapiv2.FsInfo{
		Timestamp:  time.Now(),
		Device:     "overlay",
		Mountpoint: path,
		Capacity:   fs.Blocks * size,
		Available:  fs.Bavail * size,
		Usage:      (fs.Blocks - fs.Bfree) * size,
		Inodes:     &inodes,
		InodesFree: &free,
	}, nil
}

func readID(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// osName is PRETTY_NAME of /etc/os-release, which is what a node shows as its OS image.
func osName() string {
	file, err := os.Open("/etc/os-release")
	if err != nil {
		return "Linux"
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"`)
		}
	}
	return "Linux"
}
