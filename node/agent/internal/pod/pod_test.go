// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIdentity(t *testing.T) {
	identity, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(identity, contract.IdentityInstance), `{"id": "i1", "hostname": "one.example", "cpus": 2}`)
	write(t, filepath.Join(identity, contract.IdentityUserData), "#cloud-config\n")
	write(t, filepath.Join(root, "etc/hosts"), "127.0.0.1\tlocalhost\n10.0.0.1\tpod-one\n")
	instance, err := describe(identity, "10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // writing the files again changes nothing
		if err := identify(root, instance, identity); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		contract.UserDataFile: "#cloud-config\n",
		"etc/hosts":           "127.0.0.1\tlocalhost\n10.0.0.1\tpod-one\n10.0.0.1\tone.example one\n",
	} {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, contract.InstanceFile))
	if err != nil {
		t.Fatal(err)
	}
	told := contract.Instance{}
	if err := json.Unmarshal(text, &told); err != nil || told.Address != "10.0.0.1" || told.ID != "i1" || told.CPUs != 2 {
		t.Errorf("the instance is told %+v, %v", told, err)
	}
	if id, err := os.ReadFile(filepath.Join(root, "etc/machine-id")); err != nil || len(strings.TrimSpace(string(id))) != machineIDLength {
		t.Errorf("machine ID is %q, %v", id, err)
	}
}

func TestIdentityThatIsIncomplete(t *testing.T) {
	identity := t.TempDir()
	if _, err := describe(identity, "10.0.0.1"); err == nil || !strings.Contains(err.Error(), "instance description") {
		t.Errorf("no description: %v", err)
	}
	write(t, filepath.Join(identity, contract.IdentityInstance), `{"id": "i1"}`)
	if _, err := describe(identity, ""); err == nil || !strings.Contains(err.Error(), "FOO_ADDRESS is empty") {
		t.Errorf("no address: %v", err)
	}
}

func TestHierarchies(t *testing.T) {
	got := hierarchies("5:cpu,cpuacct:/pod/a\n4:memory:/pod/a\n1:name=systemd:/pod/a\n0::/\n")
	if want := []string{"cpu,cpuacct", "memory", "name=systemd"}; !slices.Equal(got, want) {
		t.Errorf("hierarchies are %q, want %q", got, want)
	}
}

func TestStarted(t *testing.T) {
	folder := t.TempDir()
	for state, want := range map[string]bool{"Running": false, "Failed": false, "Succeeded": true} {
		write(t, filepath.Join(folder, contract.ReportFile), `{"phase": "Running", "bootstrap": {"state": "`+state+`"}}`)
		if err := Started(folder); (err == nil) != want {
			t.Errorf("bootstrap data is %s: %v", state, err)
		}
	}
	if err := Started(t.TempDir()); err == nil {
		t.Error("an instance without a report has started")
	}
}
