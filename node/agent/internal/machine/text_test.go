// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"strings"
	"testing"
)

func TestMeminfo(t *testing.T) {
	const host = `MemTotal:       24682416 kB
MemFree:         4436708 kB
MemAvailable:   23946748 kB
Buffers:          766692 kB
SwapCached:           12 kB
SwapTotal:       2097148 kB
SwapFree:        2000000 kB
VmallocTotal:   34359738367 kB
HugePages_Total:       0
`
	cases := map[string]struct {
		memory int64
		want   string
	}{
		"little": {4 << 30, `MemTotal:        4194304 kB
MemFree:         4194304 kB
MemAvailable:    4194304 kB
Buffers:          766692 kB
SwapCached:            0 kB
SwapTotal:             0 kB
SwapFree:              0 kB
VmallocTotal:   34359738367 kB
HugePages_Total:       0
`},
		"more than the host has": {1 << 40, `MemTotal:     1073741824 kB
MemFree:         4436708 kB
MemAvailable:   23946748 kB
Buffers:          766692 kB
SwapCached:            0 kB
SwapTotal:             0 kB
SwapFree:              0 kB
VmallocTotal:   34359738367 kB
HugePages_Total:       0
`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := meminfo(host, c.memory); got != c.want {
				t.Errorf("meminfo is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestCPUInfo(t *testing.T) {
	const amd64 = `processor	: 0
model name	: One
cpu MHz		: 2000.000
physical id	: 0
siblings	: 1
core id		: 0
cpu cores	: 1
apicid		: 0
initial apicid	: 0
power management:

processor	: 1
model name	: Two
cpu MHz		: 2100.000
physical id	: 1
siblings	: 1
core id		: 0
cpu cores	: 1
apicid		: 8
initial apicid	: 8
power management:

`
	const arm64 = "processor\t: 0\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU part\t: 0xd0d\n\nHardware\t: Some\n\n"
	one := func(cpus, i, name, clock string) string {
		return "processor\t: " + i + "\nmodel name\t: " + name + "\ncpu MHz\t\t: " + clock + "\nphysical id\t: 0\nsiblings\t: " + cpus +
			"\ncore id\t\t: " + i + "\ncpu cores\t: " + cpus + "\napicid\t\t: " + i + "\ninitial apicid\t: " + i + "\npower management:\n\n"
	}
	cases := map[string]struct {
		host string
		cpus []int
		want string
	}{
		"fewer":   {amd64, []int{0}, one("1", "0", "One", "2000.000")},
		"as many": {amd64, []int{0, 1}, one("2", "0", "One", "2000.000") + one("2", "1", "Two", "2100.000")},
		"more": {amd64, []int{0, 1, 2}, one("3", "0", "One", "2000.000") + one("3", "1", "Two", "2100.000") +
			one("3", "2", "One", "2000.000")},
		"arm64":         {arm64, []int{0}, "processor\t: 0\nCPU part\t: 0xd0c\n\nHardware\t: Some\n\n"},
		"not numbered":  {"vendor_id       : IBM/S390\n", []int{0, 1}, "vendor_id       : IBM/S390\n"},
		"nothing there": {"", []int{0, 1}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := cpuinfo(c.host, c.cpus); got != c.want {
				t.Errorf("cpuinfo is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	cases := map[string]struct {
		allowed     []int
		cpus        int
		all, online string
	}{
		"fewer than the host has": {[]int{0, 1, 2, 3}, 2, "0-1", "0-1"},
		"one":                     {[]int{0, 1}, 1, "0", "0"},
		"more than the host has":  {[]int{0, 1}, 4, "0-3", "0-1"},
		"not the host's first":    {[]int{4, 6, 7}, 2, "4,6", "4,6"},
		"more than are allowed":   {[]int{1, 4, 5}, 5, "0-2,4-5", "1,4-5"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			all, online := number(c.allowed, c.cpus)
			if cpuList(all) != c.all+"\n" || cpuList(online) != c.online+"\n" {
				t.Errorf("processors are %q, online %q, want %s and %s", cpuList(all), cpuList(online), c.all, c.online)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	host := kernel{
		meminfo: "MemTotal:       24682416 kB\n", cpuinfo: "processor\t: 0\n\n",
		uuid: "b5fd0d65-7a09-4b71-a55d-3b06a1c5a9a4\n", allowed: []int{0, 1},
	}
	cases := map[int]map[string]string{
		1: {"cpu/online": "0\n", "cpu/present": "0\n", "cpu/possible": "0\n", "cpu/cpu0/topology/core_id": "0\n"},
		3: {
			"cpu/online": "0-1\n", "cpu/present": "0-2\n", "cpu/cpu2/topology/core_id": "2\n", "cpu/cpu2/topology/physical_package_id": "0\n",
			"meminfo": "MemTotal:        1048576 kB\n", "cpuinfo": "processor\t: 0\n\nprocessor\t: 1\n\nprocessor\t: 2\n\n",
			"swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n", "boot_id": host.uuid,
			"sys/vm/overcommit_memory": "1\n", "sys/kernel/keys/root_maxbytes": "25000000\n",
		},
	}
	for cpus, want := range cases {
		got := files(host, Size{CPUs: cpus, MemoryBytes: 1 << 30})
		for name, content := range want {
			if got[name] != content {
				t.Errorf("with %d CPUs %s is %q, want %q", cpus, name, got[name], content)
			}
		}
		processors := 0
		for name := range got {
			if strings.HasSuffix(name, "/core_id") {
				processors++
			}
		}
		if processors != cpus {
			t.Errorf("there are %d processors, want %d", processors, cpus)
		}
	}
}
