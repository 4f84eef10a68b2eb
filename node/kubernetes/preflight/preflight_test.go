// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChecks(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := file("all", "kind: InitConfiguration\nnodeRegistration:\n  ignorePreflightErrors:\n  - all\n")
	flow := file("flow", "nodeRegistration:\n  ignorePreflightErrors: [\"ALL\"]\n")
	one := file("one", "nodeRegistration:\n  ignorePreflightErrors:\n  - Swap\n  name: all\n")
	for _, test := range []struct {
		args []string
		want bool
	}{
		{[]string{"kubeadm"}, false},
		{[]string{"kubeadm", "version"}, false},
		{[]string{"kubeadm", "init", "phase", "certs", "all"}, false},
		{[]string{"kubeadm", "init"}, true},
		{[]string{"kubeadm", "join", "--ignore-preflight-errors", "Swap"}, true},
		{[]string{"kubeadm", "join", "--ignore-preflight-errors=all"}, false},
		{[]string{"kubeadm", "join", "--ignore-preflight-errors", "all"}, false},
		{[]string{"kubeadm", "init", "--config", one}, true},
		{[]string{"kubeadm", "init", "--config", all}, false},
		{[]string{"kubeadm", "init", "--config=" + flow}, false},
		{[]string{"kubeadm", "init", "--config", filepath.Join(folder, "missing")}, true},
	} {
		if got := checks(test.args); got != test.want {
			t.Errorf("checks(%q) = %v, want %v", test.args, got, test.want)
		}
	}
}
