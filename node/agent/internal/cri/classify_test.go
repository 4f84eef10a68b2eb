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
	"slices"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func podOn(mode runtimeapi.NamespaceMode) *runtimeapi.PodSandboxConfig {
	return &runtimeapi.PodSandboxConfig{Linux: &runtimeapi.LinuxPodSandboxConfig{
		SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{NamespaceOptions: &runtimeapi.NamespaceOption{Network: mode}},
	}}
}

func TestClassify(t *testing.T) {
	host, own := podOn(runtimeapi.NamespaceMode_NODE), podOn(runtimeapi.NamespaceMode_POD)
	cases := map[string]struct {
		pod           *runtimeapi.PodSandboxConfig
		command, args []string
		kind          string
		want          way
		program       string
		programArgs   []string
	}{
		"static pod":         {pod: host, command: []string{"kube-apiserver", "--a"}, args: []string{"--b"}, want: asProcess, program: "kube-apiserver", programArgs: []string{"--a", "--b"}},
		"path in args":       {pod: host, args: []string{"/usr/local/bin/etcd", "--x"}, want: asProcess, program: "etcd", programArgs: []string{"--x"}},
		"on its own network": {pod: own, command: []string{"etcd"}, want: asSimulation},
		"other program":      {pod: host, command: []string{"/usr/local/bin/kube-proxy"}, want: asSimulation},
		"no command":         {pod: own, want: asSimulation},
		"program in a shell": {pod: host, command: []string{"sh", "-c", "etcd"}, want: asSimulation},
		"init container":     {pod: own, command: []string{"sh"}, kind: KindInit, want: asCompletedSimulation},
		"sidecar":            {pod: own, kind: KindSidecar, want: asSimulation},
	}
	for name, c := range cases {
		container := &runtimeapi.ContainerConfig{Command: c.command, Args: c.args}
		if c.kind != "" {
			container.Annotations = map[string]string{KindAnnotation: c.kind}
		}
		how, program, args := classify(c.pod, container)
		if how != c.want || program != c.program || !slices.Equal(args, c.programArgs) {
			t.Errorf("%s: got %s %q %q", name, how, program, args)
		}
	}
}

func TestNetworkGate(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		gate  networkGate
		after time.Duration
		want  bool
	}{
		"nothing known":            {networkGate{}, 0, false},
		"nothing known for long":   {networkGate{}, rangeGrace, true},
		"range known":              {networkGate{hasRange: true}, 0, true},
		"a range will come":        {networkGate{allocator: allocatorGives}, time.Hour, false},
		"no range will ever come":  {networkGate{allocator: allocatorGivesNone}, 0, true},
		"known though none is due": {networkGate{allocator: allocatorGivesNone, hasRange: true}, 0, true},
	}
	for name, c := range cases {
		c.gate.ready(start)
		if got := c.gate.ready(start.Add(c.after)); got != c.want {
			t.Errorf("%s: ready is %t", name, got)
		}
	}
}

func TestNetworkGateLearnsFromTheControllerManager(t *testing.T) {
	var gate networkGate
	gate.observe("etcd", []string{allocatorFlag})
	if gate.allocator != allocatorUnknown {
		t.Error("etcd gives out no ranges")
	}
	gate.observe(allocatorProgram, []string{"--v=2"})
	if gate.allocator != allocatorGivesNone {
		t.Error("without its flag the controller manager gives out no ranges")
	}
	gate.observe(allocatorProgram, []string{"--v=2", allocatorFlag})
	if gate.allocator != allocatorGives {
		t.Error("with its flag the controller manager gives out ranges")
	}
}

func TestParseStat(t *testing.T) {
	line := "17 (a (b) c) S 1 17 17 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 9 0 1234 99999744 2500 18446744073709551615 1\n"
	cpu, memory := parseStat([]byte(line))
	if cpu != uint64(2*time.Second) {
		t.Errorf("CPU time is %d ns", cpu)
	}
	if memory == 0 || memory%2500 != 0 {
		t.Errorf("memory is %d bytes", memory)
	}
	if cpu, memory := parseStat([]byte("17 (x) S 1")); cpu != 0 || memory != 0 {
		t.Error("a short line is not zero")
	}
}
