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
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
)

func TestMirror(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir(), Network: netip.MustParsePrefix("10.77.0.0/16")}}
	spec := engine.MachineSpec{Instance: cloud.Instance{ID: "one", Hostname: "one"}}
	folder := filepath.Join(d.folder("one"), identityFolder, "etc/containerd/certs.d")
	g.Expect(os.MkdirAll(filepath.Join(d.folder("one"), runFolder), 0o700)).To(Succeed())
	g.Expect(d.writeIdentity(spec)).To(Succeed())
	g.Expect(folder).NotTo(BeAnExistingFile(), "there is no registry")

	d.options.Mirror = &Mirror{Endpoint: "https://10.77.0.1:5000", CA: []byte("certificate\n")}
	g.Expect(d.writeIdentity(spec)).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(folder, "_default/hosts.toml"))).To(BeEquivalentTo(
		"[host.\"https://10.77.0.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n  ca = \"ca.crt\"\n"))
	g.Expect(os.ReadFile(filepath.Join(folder, "_default/ca.crt"))).To(BeEquivalentTo("certificate\n"))
}
