// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestControlPlaneClusterOfEitherKind(t *testing.T) {
	var settings []string
	for _, kind := range []string{kindFooControlPlane, kindKubeadmControlPlane} {
		objects, err := controlPlaneCluster("one", kind, "v1.35.4", 3)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]*unstructured.Unstructured{}
		for _, object := range objects {
			found[object.GetKind()] = object
		}
		controlPlane := found[kind]
		if controlPlane == nil {
			t.Fatalf("there is no %s", kind)
		}
		if got := field(controlPlane, "spec", "replicas"); got != "3" {
			t.Errorf("the %s has %s replicas, want 3", kind, got)
		}
		settings = append(settings, field(controlPlane, "spec", "kubeadmConfigSpec"))
		if got := field(controlPlane, "spec", "version"); got != "v1.35.4" {
			t.Errorf("the %s has version %s", kind, got)
		}
		if got := field(found["Cluster"], "spec", "controlPlaneRef", "kind"); got != kind {
			t.Errorf("the Cluster refers to a %s, want %s", got, kind)
		}
		if got := field(found["MachinePool"], "spec", "replicas"); got != "0" {
			t.Errorf("there are %s workers, want 0", got)
		}
	}
	if settings[0] != settings[1] || !strings.Contains(settings[0], "unsafe-no-fsync") {
		t.Errorf("both kinds must have the settings of the flavor fast, but have\n%s\nand\n%s", settings[0], settings[1])
	}
}

// field returns a field of an object as text.
func field(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	return fmt.Sprint(value)
}

func TestControllersAreToldApart(t *testing.T) {
	processes := []process{
		{pid: 1, kind: "manager", args: []string{"/bin/manager", "--providers=infrastructure"}},
		{pid: 2, kind: "manager", args: []string{"/bin/manager", "--providers=control-plane"}},
		{pid: 3, kind: "kubeadm-control-plane", args: []string{"/bin/tools/kubeadm-control-plane"}},
		{pid: 4, kind: "kubeadm-bootstrap", args: []string{"/bin/tools/kubeadm-bootstrap"}},
	}
	for index, want := range []int{2, 3} {
		var got []int
		for _, one := range processes {
			if controlPlaneContenders[index].controls(one) {
				got = append(got, one.pid)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("the controller of %s is %v, want %d", controlPlaneContenders[index].kind, got, want)
		}
	}
}

func TestCostsBetweenSamples(t *testing.T) {
	before := sample{process: process{pid: 7, cpu: 2, pss: 10, rss: 20}, requests: 100}
	after := sample{process: process{pid: 7, cpu: 5, pss: 30, rss: 40}, requests: 350}
	var costs controlPlaneCosts
	if err := costs.add(before, after); err != nil {
		t.Fatal(err)
	}
	if want := (controlPlaneCosts{Requests: 250, CPU: 3, PSS: 30, RSS: 40}); !reflect.DeepEqual(costs, want) {
		t.Errorf("got %+v, want %+v", costs, want)
	}
	after.process.pid = 8
	if err := costs.add(before, after); err == nil {
		t.Error("a restarted controller is not an error")
	}
}

func TestControlPlaneText(t *testing.T) {
	r := &results{
		FooControlPlane: []controlPlaneCosts{
			{Load: 1.5, Created: 20 * time.Second, Rolled: 30 * time.Second, Requests: 400, CPU: 2, PSS: 40 << 20, RSS: 60 << 20,
				Phases: rollTimes{rollDrains: 20 * time.Second}},
			{Created: 30 * time.Second, Rolled: 50 * time.Second, Requests: 600, CPU: 3, PSS: 50 << 20, RSS: 70 << 20},
		},
		KubeadmControlPlane: []controlPlaneCosts{
			{Created: 50 * time.Second, Rolled: 20 * time.Second, Requests: 1000, CPU: 2.5, PSS: 45 << 20, RSS: 130 << 20},
		},
	}
	text := r.text()
	for _, line := range []string{
		"FooControlPlane seconds to all machines 20.00 30.00 25.00",
		"FooControlPlane seconds of the rollout in which Cluster API drains a machine 20.00 0.00 10.00",
		"FooControlPlane load of the machine before 1.5 0.0",
		"KubeadmControlPlane API requests of the controller 1000.00 1000.00",
		"seconds to all machines 0.50 0.5 met",
		"seconds to roll all machines 2.00 0.6 missed",
		"API requests of the controller 0.50 0.8 met",
		"CPU seconds of the controller 1.00 0.7 missed",
		"MiB of the controller, PSS 1.00 1.0 met",
		"MiB of the controller, RSS 0.50 1.0 met",
	} {
		if !hasLine(text, line) {
			t.Errorf("there is no line %q in:\n%s", line, text)
		}
	}
	r.KubeadmControlPlane = nil
	if text := r.text(); strings.Contains(text, "ratio") {
		t.Errorf("a single kind is compared:\n%s", text)
	}
}

func TestSumOf(t *testing.T) {
	const text = `# TYPE other counter
other 5
# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="127.0.0.1:1",method="GET"} 7
rest_client_requests_total{code="201",host="127.0.0.1:1",method="POST"} 3
rest_client_requests_total{code="200",host="10.0.0.1:6443",method="GET"} 2
`
	if got, err := sumOf(strings.NewReader(text), requestsMetric); err != nil || got != 12 {
		t.Errorf("got %v, %v, want 12", got, err)
	}
	if _, err := sumOf(strings.NewReader(text), "missing"); err == nil {
		t.Error("a missing metric is not an error")
	}
}

func TestTail(t *testing.T) {
	kept := &tail{}
	for range 3 {
		if _, err := kept.Write([]byte(strings.Repeat("x", tailBytes/2) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = kept.Write([]byte("one\ntwo\n"))
	if got := len(kept.String()); got != tailBytes {
		t.Errorf("%d bytes are kept, want %d", got, tailBytes)
	}
	if got := kept.last(2); got != "one\ntwo" {
		t.Errorf("the last lines are %q", got)
	}
	if got := (&tail{}).last(3); got != "" {
		t.Errorf("the last lines of nothing are %q", got)
	}
}
