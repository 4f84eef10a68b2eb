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
