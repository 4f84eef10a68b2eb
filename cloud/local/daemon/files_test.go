// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func TestImages(t *testing.T) {
	g := NewWithT(t)
	folder, system := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"v1.34.0": 0o755, "gpu@v1.34.0": 0o755, "v1.36.3": 0o755, "v1.9.0": 0o755, "v1.36.3-rc.1": 0o755, "v1.35.0": 0o644, "odd": 0o755,
		"gpu@v1.36.3": 0o755, "@v1.36.3": 0o755, "Not_A_Name@v1.36.3": 0o755, "gpu@odd": 0o755,
	} {
		g.Expect(os.Mkdir(filepath.Join(folder, name), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(folder, name, nodeProgram), nil, mode)).To(Succeed())
	}
	g.Expect(os.Mkdir(filepath.Join(folder, "v1.37.0"), 0o755)).To(Succeed())
	o := Options{ImagesDir: folder, SystemDir: system}
	_, err := o.images()
	g.Expect(err).To(MatchError(os.ErrNotExist), "the folder is no operating system of nodes")
	versions := filepath.Join(system, contract.StoreVersions)
	g.Expect(os.MkdirAll(filepath.Dir(versions), 0o755)).To(Succeed())
	g.Expect(o.images()).To(Equal([]cloud.Image{
		{KubernetesVersion: "v1.9.0"}, {KubernetesVersion: "v1.34.0"}, {Name: "gpu", KubernetesVersion: "v1.34.0"},
		{KubernetesVersion: "v1.36.3-rc.1"}, {KubernetesVersion: "v1.36.3"}, {Name: "gpu", KubernetesVersion: "v1.36.3"},
	}), "an earlier release did not list the versions of its operating system")
	g.Expect(os.WriteFile(versions, []byte("v1.9.0\nv1.35.0\nv1.36.3\nv1.36.3-rc.1\nv1.37.0\n"), 0o644)).To(Succeed())
	g.Expect(o.images()).To(Equal([]cloud.Image{
		{KubernetesVersion: "v1.9.0"}, {KubernetesVersion: "v1.36.3-rc.1"}, {KubernetesVersion: "v1.36.3"},
		{Name: "gpu", KubernetesVersion: "v1.36.3"},
	}), "oldest first, and only what can run")
	g.Expect(o.requireImages()).To(Succeed())
	g.Expect(os.WriteFile(versions, []byte("v1.38.0\n"), 0o644)).To(Succeed())
	g.Expect(o.requireImages()).To(MatchError(ContainSubstring("holds no Kubernetes version with container images in --system-dir " + system)))
	o.ImagesDir = filepath.Join(folder, "none")
	g.Expect(o.requireImages()).To(MatchError(os.ErrNotExist))
}

func TestInstalledAgentIsKept(t *testing.T) {
	g := NewWithT(t)
	state, agent := t.TempDir(), filepath.Join(t.TempDir(), "agent")
	g.Expect(os.WriteFile(agent, []byte("one"), 0o755)).To(Succeed())
	first, err := installAgent(state, agent)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(installAgent(state, agent)).To(Equal(first))
	g.Expect(os.WriteFile(agent, []byte("two"), 0o755)).To(Succeed())
	second, err := installAgent(state, agent)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second).NotTo(Equal(first))
	g.Expect(os.ReadFile(filepath.Join(first, "opt/foo/bin/foonode"))).To(Equal([]byte("one")), "instances that run keep theirs")
	g.Expect(os.ReadFile(filepath.Join(second, "opt/foo/bin/systemctl"))).To(Equal([]byte("two")))
	entries, err := os.ReadDir(filepath.Join(state, "agent"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(2))

	g.Expect(os.Truncate(filepath.Join(second, "opt/foo/bin/foonode"), 0)).To(Succeed())
	g.Expect(installAgent(state, agent)).To(Equal(second))
	g.Expect(os.ReadFile(filepath.Join(second, "opt/foo/bin/foonode"))).To(Equal([]byte("two")), "what a power failure cut off is written again")
}

// A hardened root has a umask that would keep other users out of what instances are made of.
func TestUmaskOfTheCaller(t *testing.T) {
	g := NewWithT(t)
	before := unix.Umask(0o077)
	t.Cleanup(func() { unix.Umask(before) })
	g.Expect(Serve(t.Context(), Options{})).NotTo(Succeed(), "there is no network")
	state, agent := t.TempDir(), filepath.Join(t.TempDir(), "agent")
	g.Expect(os.WriteFile(agent, nil, 0o600)).To(Succeed())
	installed, err := installAgent(state, agent)
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range []string{"", "opt/foo/bin", "opt/foo/bin/foonode"} {
		info, err := os.Stat(filepath.Join(installed, path))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(programMode), path)
	}
}

func TestToken(t *testing.T) {
	g := NewWithT(t)
	state := t.TempDir()
	of := func(tenant config.Tenant) []string {
		full, viewer, err := Options{StateDir: state}.tokens(tenant)
		g.Expect(err).NotTo(HaveOccurred())
		return []string{full, viewer}
	}
	made := of(config.Tenant{Name: config.DefaultTenant})
	g.Expect(made).To(HaveEach(MatchRegexp("^[A-Z2-7]{26,}$")), "128 bits in base32")
	g.Expect(of(config.Tenant{Name: config.DefaultTenant})).To(Equal(made), "they are made once")
	for _, path := range []string{TokenFile(state), ViewerTokenFile(TokenFile(state))} {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))
	}
	all := slices.Concat(made, of(config.Tenant{Name: "other"}))
	slices.Sort(all)
	g.Expect(slices.Compact(all)).To(HaveLen(4), "all are different")

	given := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(given, []byte(" secret \n"), 0o600)).To(Succeed())
	g.Expect(of(config.Tenant{Name: "x", TokenFile: given})[0]).To(Equal("secret"))
	g.Expect(of(config.Tenant{Name: "x", ViewerTokenFile: given})[1]).To(Equal("secret"))
	g.Expect(os.WriteFile(given, nil, 0o600)).To(Succeed())
	_, _, err := Options{StateDir: state}.tokens(config.Tenant{Name: "x", TokenFile: given})
	g.Expect(err).To(MatchError(And(ContainSubstring(given), ContainSubstring("empty"))))
}

// Every client was given the token.
func TestATokenIsNotReplacedByMistake(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "token")
	read := func() (string, error) { return token("x", "", path) }
	made, err := read()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Rename(path, path+".kept")).To(Succeed())
	g.Expect(os.Symlink("token", path)).To(Succeed())
	_, err = read()
	g.Expect(err).To(MatchError(unix.ELOOP), "it is there, but cannot be read")
	g.Expect(os.Rename(path+".kept", path)).To(Succeed())
	g.Expect(read()).To(Equal(made))
	g.Expect(os.Truncate(path, 0)).To(Succeed(), "the power failed")
	g.Expect(read()).NotTo(BeEmpty())
}

func TestLockNamesItsOwner(t *testing.T) {
	g := NewWithT(t)
	state := t.TempDir()
	first, err := lock(state)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = lock(state)
	g.Expect(err).To(MatchError(ContainSubstring("in use by another foocloud (process")))
	g.Expect(first.Close()).To(Succeed())
	again, err := lock(state)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Close()).To(Succeed())
}

// Clients that trust the certificate in the state folder can verify each listener, whatever other
// listeners exist or existed.
func TestTheAuthorityIsKept(t *testing.T) {
	g := NewWithT(t)
	c := &checked{Options: Options{StateDir: t.TempDir()}}
	verified := func(address, name string) []byte {
		cert, err := c.certificate(address)
		g.Expect(err).NotTo(HaveOccurred())
		kept, err := os.ReadFile(filepath.Join(c.StateDir, certFile))
		g.Expect(err).NotTo(HaveOccurred())
		trusted := x509.NewCertPool()
		g.Expect(trusted.AppendCertsFromPEM(kept)).To(BeTrue())
		for _, host := range []string{name, "localhost", "127.0.0.1"} {
			_, err = cert.Leaf.Verify(x509.VerifyOptions{Roots: trusted, DNSName: host})
			g.Expect(err).NotTo(HaveOccurred(), host)
		}
		return kept
	}
	first := verified("10.1.2.3:443", "10.1.2.3")
	g.Expect(verified("cloud.example:443", "cloud.example")).To(Equal(first), "another listener has it signed too")
	g.Expect(verified("10.1.2.3:443", "10.1.2.3")).To(Equal(first))
	info, err := os.Stat(filepath.Join(c.StateDir, keyFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	c.TLSCert, c.TLSKey = "/does/not/exist", "/does/not/exist"
	_, err = c.certificate("10.1.2.3:443")
	g.Expect(err).To(MatchError(ContainSubstring("--tls-cert")))
}

func TestSockets(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	g.Expect(err).NotTo(HaveOccurred())
	stale.SetUnlinkOnClose(false)
	g.Expect(stale.Close()).To(Succeed())
	live, err := listenUnix(t.Context(), path)
	g.Expect(err).NotTo(HaveOccurred(), "the socket of a daemon that was killed is in nobody's way")
	t.Cleanup(func() { _ = live.Close() })
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))
	_, err = listenUnix(t.Context(), path)
	g.Expect(err).To(MatchError(ContainSubstring("in use by another process")))

	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	_, err = listenUnix(t.Context(), file)
	g.Expect(err).To(MatchError(ContainSubstring("is not a socket")))
	_, err = listenUnix(t.Context(), "/"+strings.Repeat("x", maxSocketPath))
	g.Expect(err).To(MatchError(ContainSubstring("longer than")))
}

func TestPortTaken(t *testing.T) {
	g := NewWithT(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = taken.Close() })
	c := &checked{Options: Options{StateDir: t.TempDir(), Listen: []string{"https://" + taken.Addr().String()}}}
	_, err = c.listen(t.Context(), c.outside)
	g.Expect(err).To(MatchError(ContainSubstring("choose another port")))
}

func TestOnlyTheCloudsOwnAddressIsInItsNamespace(t *testing.T) {
	g := NewWithT(t)
	c := &checked{network: netip.MustParsePrefix("10.77.0.0/16")}
	g.Expect(c.inside("https://10.77.0.1:7443")).To(BeTrue())
	for _, address := range []string{"https://10.77.0.2:7443", "https://127.0.0.1:7443", "unix:///run/10.77.0.1", "https://"} {
		g.Expect(c.outside(address)).To(BeTrue(), address)
	}
}
