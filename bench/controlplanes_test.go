// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestControlPlaneClusterOfEitherKind(t *testing.T) {
	var settings []string
	for _, kind := range []string{kindFooControlPlane, kindKubeadmControlPlane} {
		objects, err := controlPlaneCluster(t.Context(), "one", kind, "v1.35.4", 3)
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

func TestUsageBetweenSamples(t *testing.T) {
	before := sample{process: process{pid: 7, cpu: 2, pss: 10 << 20, rss: 20 << 20}, requests: 100}
	after := sample{process: process{pid: 7, cpu: 5, pss: 30 << 20, rss: 40 << 20}, requests: 350}
	var run measurement
	if err := run.addUsage(before, after); err != nil {
		t.Fatal(err)
	}
	if want := []value{{unitRequests, 250}, {unitControllerCPU, 3}, {unitPSS, 30}, {unitRSS, 40}}; !slices.Equal(run.Values, want) {
		t.Errorf("got %+v, want %+v", run.Values, want)
	}
	after.process.pid = 8
	if err := run.addUsage(before, after); err == nil {
		t.Error("a restarted controller is not an error")
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
