//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAddressBelongsToTheTenantThatHasItNow(t *testing.T) {
	g := NewWithT(t)
	options := Options{
		Name: "foofence0", Network: netip.MustParsePrefix("10.91.252.0/28"), Gateway: netip.MustParseAddr("10.91.252.1"),
		Host: netip.MustParseAddr("10.91.252.2"), Alias: "test", Space: filepath.Join(t.TempDir(), "network"),
	}
	t.Cleanup(func() { g.Expect(Remove(options)).To(Succeed()) })
	for _, tenant := range []string{"one", "one", "two", "one"} {
		bridge, err := Ensure(options)
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { g.Expect(bridge.Close()).To(Succeed()) })
		instance := exec.Command("sleep", "infinity")
		instance.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		g.Expect(instance.Start()).To(Succeed())
		t.Cleanup(func() {
			g.Expect(instance.Process.Kill()).To(Succeed())
			_ = instance.Wait()
		})
		g.Expect(bridge.AddCard(Card{
			Name: "fooi1", PeerName: "eth0", PID: instance.Process.Pid, Address: netip.MustParseAddr("10.91.252.3"), Tenant: tenant,
		})).To(Succeed())
		conn, err := bridge.fence.open()
		g.Expect(err).NotTo(HaveOccurred())
		elements, err := conn.GetSetElements(bridge.fence.owners)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(elements).To(HaveLen(1))
		g.Expect(elements[0].Val).To(Equal(digest(tenant)))
		g.Expect(bridge.RemoveCard("fooi1")).To(Succeed())
	}
}
