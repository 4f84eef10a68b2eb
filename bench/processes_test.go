// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/prometheus/procfs"
)

// environmentProcesses are the processes that quickstart, with process ID 10, started, and one
// unrelated process.
var environmentProcesses = []process{
	{pid: 1, args: []string{"init"}, cpu: 100},
	{pid: 10, parent: 1, args: []string{"bin/foo", "quickstart", "--management-only"}, cpu: 50},
	{pid: 11, parent: 10, args: []string{"/bin/foocloud", "serve"}, cpu: 1, pss: 10},
	{pid: 12, parent: 10, args: []string{"/bin/etcd"}, cpu: 2, pss: 20},
	{pid: 13, parent: 11, args: []string{"foocloud", "serve-load-balancer", "/folder"}, cpu: 3, pss: 30},
	{pid: 14, parent: 11, args: []string{"foonode", "init"}, cpu: 4, pss: 40},
	{pid: 15, parent: 14, args: []string{"etcd"}, cpu: 5, pss: 50},
	{pid: 16, parent: 11, args: []string{"foonode", "init"}, cpu: 6, pss: 60},
	{pid: 17, parent: 14, args: nil, cpu: 7},
	{pid: 20, parent: 1, args: []string{"etcd"}, cpu: 8, pss: 80},
}

func TestByKind(t *testing.T) {
	want := usage{
		{Group: groupClusters, Kind: "(ending)", Processes: 1, CPU: 7},
		{Group: groupClusters, Kind: "etcd", Processes: 1, CPU: 5, Memory: 50},
		{Group: groupClusters, Kind: "foonode", Processes: 2, CPU: 10, Memory: 100},
		{Group: groupClusters, Kind: "load-balancer", Processes: 1, CPU: 3, Memory: 30},
		{Group: groupManagement, Kind: "etcd", Processes: 1, CPU: 2, Memory: 20},
		{Group: groupManagement, Kind: "foocloud", Processes: 1, CPU: 1, Memory: 10},
	}
	got := byKind(classify(environmentProcesses, 10))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if sum := got.total(groupClusters); sum.Processes != 5 || sum.CPU != 25 || sum.Memory != 180 {
		t.Errorf("the clusters' total is %+v", sum)
	}
}

func TestUsageSince(t *testing.T) {
	before := usage{{Group: groupManagement, Kind: "etcd", CPU: 2, Memory: 10}}
	now := usage{
		{Group: groupClusters, Kind: "etcd", CPU: 5, Memory: 50},
		{Group: groupManagement, Kind: "etcd", CPU: 6, Memory: 20},
	}
	want := usage{
		{Group: groupClusters, Kind: "etcd", CPU: 5, Memory: 50},
		{Group: groupManagement, Kind: "etcd", CPU: 4, Memory: 20},
	}
	if got := now.since(before); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if now[1].CPU != 6 {
		t.Error("the later usage has been changed")
	}
}

func TestCPUSeconds(t *testing.T) {
	got := cpuSeconds(procfs.ProcStat{UTime: 150, STime: 50, CUTime: 25, CSTime: 75})
	if got != 3 {
		t.Errorf("got %v seconds, want 3: own and children's, user and system", got)
	}
}

func TestProcessesOf(t *testing.T) {
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = input.Close()
		_ = child.Wait()
	}()
	found, err := processesOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := readMemory(found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].pid != child.Process.Pid || found[0].group != groupManagement {
		t.Fatalf("got %+v, want only the child with process ID %d", found, child.Process.Pid)
	}
	if found[0].pss == 0 {
		t.Error("the child has no memory")
	}
}

func TestReadMemoryOfEndedProcess(t *testing.T) {
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if err := readMemory([]process{{pid: child.Process.Pid}}); err != nil {
		t.Errorf("a process that has ended is an error: %v", err)
	}
}
