// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// After a reboot, nothing of the clusters runs. Without Foo, nobody could delete their disks and keys.
func TestUninstallWhileClustersAreStopped(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	lib := filepath.Join(prefix, "lib/foo")
	other := filepath.Join(t.TempDir(), "lib/foo")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	before := tree(g, prefix)
	const refused = "install.sh: clusters are stopped, and nothing else could delete their disks and keys in "
	for instance, remedy := range map[string]string{
		"var/lib/foo/cloud/instances/i-1": "/var/lib/foo: delete them first with: foo start, and foo delete cluster NAME; " +
			"or all of them with: foo quickstart delete --state-dir=/var/lib/foo\n",
		"var/lib/foo-quickstart/cloud/instances/i-1": "/var/lib/foo-quickstart: delete them first with: foo quickstart delete --state-dir=/var/lib/foo-quickstart\n",
		"var/lib/foocloud/instances/i-1":             "/var/lib/foocloud: delete them first with: systemctl stop foocloud && foocloud destroy\n",
	} {
		// An installation that is gone cannot delete them, nor does anyone know who has started the last.
		for _, layers := range []string{"/agent:" + lib + "/systems/v0.1.0", "/agent:/gone/lib/foo/systems/v0.1.0", ""} {
			m.file(t, instance+"/layers", layers)
			said, code = m.install(t, "--uninstall", "--prefix", prefix)
			g.Expect(said).To(Equal(refused + remedy))
			g.Expect(code).To(Equal(2))
			g.Expect(tree(g, prefix)).To(Equal(before))
		}
		remove(t, filepath.Join(m.root, instance))
	}

	// Another installation has started them, or can start them.
	m.file(t, "var/lib/foo/cloud/instances/i-1/layers", "/agent:"+other+"/systems/v0.1.0")
	write(t, filepath.Join(other, "foocloud"), "")
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(code).To(BeZero(), said)
	said, code = m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	remove(t, other)
	m.file(t, "usr/lib/foo/foocloud", "")
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(code).To(BeZero(), said)
}

// Whoever removes Foo learns which tokens and settings stay.
func TestUninstallNamesWhatStays(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	m.file(t, "var/lib/foocloud/token", "secret")
	m.file(t, "etc/default/foocloud", "")
	g.Expect(os.Mkdir(filepath.Join(m.root, "var/lib/foocloud/instances"), 0o700)).To(Succeed())
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(said).To(Equal("Removed Foo from " + prefix + "/lib/foo. These stay, unless you remove them: /var/lib/foocloud /etc/default/foocloud\n"))
	g.Expect(code).To(BeZero())
}
