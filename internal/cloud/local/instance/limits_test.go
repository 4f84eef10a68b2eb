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

package instance

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// A machine without what nodes need says so, before it makes anything. Those of systemd with version 2 of cgroups have their own story in
// test/e2e: nothing but the kernel does what it does with these files.
func TestHoldSaysWhichControllersAreMissing(t *testing.T) {
	g := NewWithT(t)
	top := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(top, "cgroup.controllers"), []byte("cpu io memory pids\n"), 0o600)).To(Succeed())
	g.Expect(hold(top, filepath.Join(top, "foo"))).To(MatchError(ContainSubstring("no cgroup controllers cpuset,")))
	g.Expect(filepath.Join(top, "foo")).NotTo(BeAnExistingFile())
}
