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

package cri

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// stateFolder lies on the disk that stands for images and containers.
	stateFolder = "/var/lib/kubelet"
	// clockTicks is the unit of CPU time in /proc, per second; the kernel fixes it at 100 for programs.
	clockTicks = 100

	statUserTime   = 11 // places in /proc/<pid>/stat, counted after the program's name
	statSystemTime = 12
	statMemory     = 21
)

func filesystem(path string) (*runtimeapi.FilesystemUsage, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return nil, fmt.Errorf("size of disk at %s: %w", path, err)
	}
	return &runtimeapi.FilesystemUsage{
		Timestamp:  time.Now().UnixNano(),
		FsId:       &runtimeapi.FilesystemIdentifier{Mountpoint: path},
		UsedBytes:  &runtimeapi.UInt64Value{Value: 0}, // images and writable layers take no space
		InodesUsed: &runtimeapi.UInt64Value{Value: 0},
	}, nil
}

// ContainerStats tells what one container uses.
func (r *Runtime) ContainerStats(_ context.Context, req *runtimeapi.ContainerStatsRequest) (*runtimeapi.ContainerStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[req.GetContainerId()]
	if !ok {
		return nil, notFound(req.GetContainerId())
	}
	return &runtimeapi.ContainerStatsResponse{Stats: c.stats()}, nil
}

// ListContainerStats tells what running containers use.
func (r *Runtime) ListContainerStats(_ context.Context, req *runtimeapi.ListContainerStatsRequest) (*runtimeapi.ListContainerStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	filter := &runtimeapi.ContainerFilter{
		Id:            req.GetFilter().GetId(),
		PodSandboxId:  req.GetFilter().GetPodSandboxId(),
		LabelSelector: req.GetFilter().GetLabelSelector(),
	}
	resp := &runtimeapi.ListContainerStatsResponse{}
	for _, c := range r.containers {
		if c.state == runtimeapi.ContainerState_CONTAINER_RUNNING && c.matches(filter) {
			resp.Stats = append(resp.Stats, c.stats())
		}
	}
	return resp, nil
}

// PodSandboxStats tells what one pod uses.
func (r *Runtime) PodSandboxStats(_ context.Context, req *runtimeapi.PodSandboxStatsRequest) (*runtimeapi.PodSandboxStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := r.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, notFound(req.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatsResponse{Stats: r.podStats(pod)}, nil
}

// ListPodSandboxStats tells what ready pods use.
func (r *Runtime) ListPodSandboxStats(_ context.Context, req *runtimeapi.ListPodSandboxStatsRequest) (*runtimeapi.ListPodSandboxStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	filter := &runtimeapi.PodSandboxFilter{Id: req.GetFilter().GetId(), LabelSelector: req.GetFilter().GetLabelSelector()}
	resp := &runtimeapi.ListPodSandboxStatsResponse{}
	for _, pod := range r.sandboxes {
		if pod.state == runtimeapi.PodSandboxState_SANDBOX_READY && pod.matches(filter) {
			resp.Stats = append(resp.Stats, r.podStats(pod))
		}
	}
	return resp, nil
}

// podStats needs the lock.
func (r *Runtime) podStats(pod *sandbox) *runtimeapi.PodSandboxStats {
	linux := &runtimeapi.LinuxPodSandboxStats{}
	var cpu, memory, processes uint64
	for _, c := range r.containers {
		if c.sandbox != pod || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
			continue
		}
		stats := c.stats()
		cpu += stats.GetCpu().GetUsageCoreNanoSeconds().GetValue()
		memory += stats.GetMemory().GetWorkingSetBytes().GetValue()
		if c.process != nil {
			processes++
		}
		linux.Containers = append(linux.Containers, stats)
	}
	linux.Cpu, linux.Memory = usage(cpu, memory)
	linux.Process = &runtimeapi.ProcessUsage{
		Timestamp:    time.Now().UnixNano(),
		ProcessCount: &runtimeapi.UInt64Value{Value: processes},
	}
	return &runtimeapi.PodSandboxStats{
		Attributes: &runtimeapi.PodSandboxAttributes{
			Id:          pod.id,
			Metadata:    pod.config.GetMetadata(),
			Labels:      pod.config.GetLabels(),
			Annotations: pod.config.GetAnnotations(),
		},
		Linux: linux,
	}
}

// stats of a container: what its process uses, and nothing where it is simulated.
func (c *container) stats() *runtimeapi.ContainerStats {
	var cpu, memory uint64
	if c.process != nil {
		cpu, memory = processUsage(c.process.PID())
	}
	out := &runtimeapi.ContainerStats{Attributes: &runtimeapi.ContainerAttributes{
		Id:          c.id,
		Metadata:    c.config.GetMetadata(),
		Labels:      c.config.GetLabels(),
		Annotations: c.config.GetAnnotations(),
	}}
	out.Cpu, out.Memory = usage(cpu, memory)
	if layer, err := filesystem(stateFolder); err == nil {
		out.WritableLayer = layer
	}
	return out
}

func usage(cpu, memory uint64) (*runtimeapi.CpuUsage, *runtimeapi.MemoryUsage) {
	now := time.Now().UnixNano()
	return &runtimeapi.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: &runtimeapi.UInt64Value{Value: cpu}},
		&runtimeapi.MemoryUsage{
			Timestamp:       now,
			WorkingSetBytes: &runtimeapi.UInt64Value{Value: memory},
			UsageBytes:      &runtimeapi.UInt64Value{Value: memory},
			RssBytes:        &runtimeapi.UInt64Value{Value: memory},
		}
}

// processUsage returns the CPU time of a process in nanoseconds and its resident memory in bytes, zero where it is gone.
func processUsage(pid int) (cpu, memory uint64) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	return parseStat(data)
}

func parseStat(data []byte) (cpu, memory uint64) {
	// The name is in parentheses and may hold spaces, so fields are counted after its end.
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) <= statMemory {
		return 0, 0
	}
	user, _ := strconv.ParseUint(fields[statUserTime], 10, 64)
	system, _ := strconv.ParseUint(fields[statSystemTime], 10, 64)
	pages, _ := strconv.ParseUint(fields[statMemory], 10, 64)
	return (user + system) * uint64(time.Second) / clockTicks, pages * uint64(os.Getpagesize())
}
