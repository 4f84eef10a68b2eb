// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
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
