// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func TestTimes(t *testing.T) {
	reached := times{}
	reached.note(&snapshot{infrastructure: true}, time.Second)
	reached.note(&snapshot{
		infrastructure: true, initialized: true,
		machines: []machineState{{controlPlane: true, ordered: true, running: true, bootstrapped: true, ready: true}, {running: true}},
		nodes:    []nodeState{{controlPlane: true, ready: true}, {ready: true}, {ready: true}, {}},
	}, 2*time.Second)
	for phase, want := range map[phase]time.Duration{
		phaseInfrastructure: time.Second, phaseOrdered: 2 * time.Second, phaseBootstrapped: 2 * time.Second,
		phaseInitialized: 2 * time.Second, phaseFirstNode: 2 * time.Second, phaseRegistered: 2 * time.Second,
	} {
		if got := reached[phase]; got != want {
			t.Errorf("%s at %s, want %s", phase, got, want)
		}
	}
	want := []phase{phaseWorkersRunning, phaseWorkersDone, phaseNodes, phaseDNS, phaseAddOns, phaseMachines, phaseAvailable}
	if got := reached.missing(phases...); !slices.Equal(got, want) {
		t.Errorf("missing are %q, want %q", got, want)
	}
}

func TestPhasesAreAllObserved(t *testing.T) {
	observed := (&snapshot{}).reached()
	if len(observed) != len(phases) {
		t.Errorf("%d phases are observed, %d are listed", len(observed), len(phases))
	}
	for _, phase := range phases {
		if _, ok := observed[phase]; !ok {
			t.Errorf("%q is not observed", phase)
		}
	}
}

func TestBareUserData(t *testing.T) {
	data, err := bareUserData(t.Context(), "bare-1", "v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"## template: jinja\n#cloud-config\n", "kubeadm init --config", "encryptionAlgorithm: ECDSA-P256",
		"unsafe-no-fsync", "- preflight\n", "/etc/kubernetes/patches/kube-apiserver+json.yaml",
		"kube-api-qps", "maxPerCore: 0", "kube-proxy.yaml >> /run/kubeadm/kubeadm.yaml",
		"podSubnet: 10.244.0.0/16", "serviceSubnet: 10.128.0.0/12", "clusterName: bare-1",
		"kubernetesVersion: v1.36.3", "{{ ds.meta_data.local_hostname }}", kubeadmBegan, kubeadmEnded,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}
}

// kubeadm fails without the patches folder that its configuration names, and its only kube-proxy
// configuration is what a command appends.
func TestBareUserDataHasTheFilesThatKubeadmReads(t *testing.T) {
	data, err := bareUserData(t.Context(), "bare-1", "v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	var userData struct {
		WriteFiles []struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		} `json:"write_files"`
	}
	if err := yaml.Unmarshal(data, &userData); err != nil {
		t.Fatal(err)
	}
	var configuration, appended string
	folders := sets.New[string]()
	for _, file := range userData.WriteFiles {
		folders.Insert(filepath.Dir(file.Path))
		if file.Path == "/run/kubeadm/kubeadm.yaml" {
			configuration = file.Content
		}
		if file.Path == "/etc/kubernetes/kube-proxy.yaml" {
			appended = file.Content
		}
	}
	documents, err := utilyaml.ToUnstructured([]byte(configuration + appended))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		patches, found, err := unstructured.NestedString(document.Object, "patches", "directory")
		if err != nil {
			t.Fatal(err)
		}
		if found && !folders.Has(patches) {
			t.Errorf("%s has patches in %s, where nothing is written: only in %q", document.GetKind(), patches, sets.List(folders))
		}
	}
	var kinds []string
	for _, document := range documents {
		kinds = append(kinds, document.GetKind())
	}
	if want := []string{"ClusterConfiguration", "InitConfiguration", "KubeProxyConfiguration"}; !slices.Equal(kinds, want) {
		t.Errorf("the configuration of kubeadm has %q, want %q", kinds, want)
	}
}

func TestTemplates(t *testing.T) {
	foo, err := fooCluster(t.Context(), "one", "v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := inMemoryCluster(t.Context(), "one", "v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range append(foo, inMemory...) {
		if object.GetNamespace() != benchNamespace || !strings.HasPrefix(object.GetName(), "one") {
			t.Errorf("%s is %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		}
	}
	if _, err := render(t.Context(), []byte("name: ${MISSING}"), nil); err == nil {
		t.Error("a variable without a value is not an error")
	}
}

func TestKubeadmTime(t *testing.T) {
	console := "echo " + kubeadmBegan + " $(date)\n" + kubeadmBegan + " 1000000000\n[init] Using\n" + kubeadmEnded + " 3500000000\n"
	got, err := kubeadmTime(console)
	if err != nil || got != 2500*time.Millisecond {
		t.Errorf("got %s, %v, want 2.5s", got, err)
	}
	if _, err := kubeadmTime(kubeadmBegan + " 1\n"); err == nil {
		t.Error("a console without the end is not an error")
	}
}

func parse(args ...string) (chosen options, err error) {
	command := newCommand(func(_ context.Context, options options) error {
		chosen = options
		return nil
	})
	command.SetArgs(args)
	command.SetOut(io.Discard)
	err = command.ExecuteContext(context.Background())
	return chosen, err
}

func TestOptions(t *testing.T) {
	bin := "--bin-dir=" + t.TempDir()
	if err := os.WriteFile(filepath.Join(strings.TrimPrefix(bin, "--bin-dir="), "foo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := parse(bin, "--parts=foo,many", "--clusters=1,4")
	if err != nil {
		t.Fatal(err)
	}
	if !got.parts.HasAll(partFoo, partMany) || got.parts.Len() != 2 || !slices.Equal(got.clusters, []int{1, 4}) || got.runs != 3 {
		t.Errorf("got %+v", got)
	}
	for _, wrong := range []string{"--parts=fast", "--clusters=0", "--clusters=1,two", "--runs=0", "--machines=2", "--pools=0", "--timeout=0s", "--bin-dir=/nowhere", "more", "--what"} {
		if _, err := parse(bin, wrong); !cli.IsUsage(err) {
			t.Errorf("%s gives %v", wrong, err)
		}
	}
	if got, err := parse("--help"); err != nil || got.runs == 3 {
		t.Errorf("--help gives %v, and runs: %+v", err, got)
	}
}

func TestParseVariables(t *testing.T) {
	got := parseVariables("A=1\nB=x=y\n\nnothing\n")
	if len(got) != 2 || got["A"] != "1" || got["B"] != "x=y" {
		t.Errorf("got %v", got)
	}
}
