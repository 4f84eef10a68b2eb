// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

func TestUsersAt(t *testing.T) {
	g := NewWithT(t)
	network := netip.MustParsePrefix("10.77.0.0/16")
	g.Expect(usersAt(network, "10.77.0.2")).To(BeEquivalentTo(firstUsers + 2*usersPerInstance))
	g.Expect(usersAt(network, "10.77.1.2")).To(BeEquivalentTo(firstUsers + 258*usersPerInstance))
	last := uint64(usersAt(network, "10.77.63.255")) + usersPerInstance
	g.Expect(last).To(BeEquivalentTo(1<<31), "all lie below what some programs take for negative")
	g.Expect(usersAt(network, "10.77.64.2")).To(Equal(usersAt(network, "10.77.0.2")))
	g.Expect(usersAt(network, "")).To(BeEquivalentTo(firstUsers))
}

func TestUsersStayWithTheDisk(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir(), Network: netip.MustParsePrefix("10.77.0.0/16"), UserNamespaces: true}}
	one := engine.MachineSpec{Instance: cloud.Instance{ID: "one", Address: "10.77.0.2"}}
	g.Expect(d.chooseUsers(one)).To(Succeed())
	first := usersAt(d.options.Network, one.Address)
	g.Expect(d.usersOf("one")).To(Equal(first))
	d.options.UserNamespaces = false
	g.Expect(d.chooseUsers(one)).To(Succeed())
	g.Expect(d.usersOf("one")).To(Equal(first), "the daemon was started again with another flag")

	d.options.UserNamespaces = true
	old := engine.MachineSpec{Instance: cloud.Instance{ID: "old", Address: "10.77.0.3"}}
	g.Expect(os.MkdirAll(filepath.Join(d.folder("old"), upperFolder), 0o700)).To(Succeed())
	g.Expect(d.chooseUsers(old)).To(Succeed())
	g.Expect(d.usersOf("old")).To(BeEquivalentTo(hostUsers), "an earlier version has made its disk")
}

// On a full disk and after a power failure, a file can exist without its content.
func TestUsersAreNotedWholeOrNotAtAll(t *testing.T) {
	g := NewWithT(t)
	state := ownDisk(t, "size=64k")
	fill := filepath.Join(state, "fill")
	g.Expect(os.WriteFile(fill, make([]byte, 1<<20), 0o600)).To(MatchError(unix.ENOSPC))
	d := &Driver{options: Options{StateDir: state, Network: netip.MustParsePrefix("10.77.0.0/16"), UserNamespaces: true}}
	one := engine.MachineSpec{Instance: cloud.Instance{ID: "one", Address: "10.77.0.2"}}
	g.Expect(d.chooseUsers(one)).To(MatchError(unix.ENOSPC))
	g.Expect(os.Remove(fill)).To(Succeed())
	g.Expect(d.chooseUsers(one)).To(Succeed())
	g.Expect(d.usersOf("one")).To(Equal(usersAt(d.options.Network, one.Address)))
}

// ownDisk mounts a file system in memory, which only this test sees, and returns its folder.
func ownDisk(t *testing.T, options string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	g := NewWithT(t)
	// Never unlocked: the thread ends with the test, and so do its mounts.
	runtime.LockOSThread()
	g.Expect(ownMounts()).To(Succeed())
	folder := t.TempDir()
	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", 0, options)).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(folder, unix.MNT_DETACH)).To(Succeed()) })
	return folder
}

func TestSeparate(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir(), SystemDir: "/mnt/system", Network: netip.MustParsePrefix("10.77.0.0/16")}}
	container := d.container(engine.MachineSpec{Instance: cloud.Instance{ID: "one", Address: "10.77.0.2"}})
	g.Expect(d.separate(container, "one", firstUsers)).To(Succeed())
	g.Expect(container.Root.Path).NotTo(HavePrefix("/mnt/"), "the system lies there")
	g.Expect(container.Linux.Namespaces).To(ContainElement(specs.LinuxNamespace{Type: specs.UserNamespace}))
	g.Expect(container.Process.Capabilities.Bounding).NotTo(ContainElement("CAP_SYS_RESOURCE"))
	at := func(path string) int {
		return slices.IndexFunc(container.Mounts, func(mount specs.Mount) bool { return mount.Destination == path })
	}
	g.Expect(at("/dev/.foo/sys")).To(And(BeNumerically(">", at("/dev")), BeNumerically("<", at("/sys"))), "the first mount decides whether all are read-only")
}

func TestLayersOfAnotherInstallationAreNotHidden(t *testing.T) {
	g := NewWithT(t)
	d := &Driver{options: Options{StateDir: t.TempDir(), SystemDir: "/mnt/system"}}
	place, err := d.mappedPlace("one")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.MkdirAll(d.folder("one"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(d.folder("one"), layersFile), []byte(place), 0o600)).To(Succeed())
	g.Expect(d.mappedPlace("one")).NotTo(Equal(place))
	g.Expect(d.mappedPlace("two")).To(Equal(place))
}
