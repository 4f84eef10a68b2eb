// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLimitsAreOnlyRaised(t *testing.T) {
	limit := atLeast(8192)
	for have, fits := range map[string]bool{"128": false, "8191": false, "8192": true, "65536": true, "": false, "many": false} {
		t.Run(have, func(t *testing.T) {
			NewWithT(t).Expect(limit.fits(have)).To(Equal(fits))
		})
	}
}

const limitName = "fs/inotify/max_user_instances"

// host is a host whose settings are files.
type host struct {
	*GomegaWithT
	t *testing.T
	Settings
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{GomegaWithT: NewWithT(t), t: t, Settings: Settings{root: t.TempDir(), folder: filepath.Join(t.TempDir(), "claims")}}
	h.Expect(os.MkdirAll(filepath.Dir(filepath.Join(h.root, limitName)), 0o700)).To(Succeed())
	h.set("128")
	return h
}

func (h *host) set(value string) { h.Expect(h.write(limitName, value)).To(Succeed()) }

func (h *host) limit() string {
	text, err := os.ReadFile(filepath.Join(h.root, limitName))
	h.Expect(err).NotTo(HaveOccurred())
	return strings.TrimSpace(string(text))
}

// cloud returns the file of a new cloud.
func (h *host) cloud() string {
	file := filepath.Join(h.t.TempDir(), "state.db")
	h.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	return file
}

func TestLastCloudRestoresTheSettings(t *testing.T) {
	h := newHost(t)
	first, second := h.cloud(), h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.Expect(h.limit()).To(Equal("8192"))
	h.Expect(h.Claim(second)).To(Succeed())
	h.Expect(h.Claim(first)).To(Succeed(), "as after a restart of the daemon")
	h.Expect(h.Release(first)).To(Succeed())
	h.Expect(h.limit()).To(Equal("8192"), "the second cloud needs it")
	h.Expect(h.Release(second)).To(Succeed())
	h.Expect(h.limit()).To(Equal("128"))
	h.Expect(h.Release(second)).To(Succeed(), "the call is idempotent")
}

func TestCloudThatVanishedHoldsNoSetting(t *testing.T) {
	h := newHost(t)
	first, second := h.cloud(), h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.Expect(h.Claim(second)).To(Succeed())
	h.Expect(os.Remove(first)).To(Succeed())
	h.Expect(h.Release(second)).To(Succeed())
	h.Expect(h.limit()).To(Equal("128"))
}

func TestSettingThatFitsIsLeftAlone(t *testing.T) {
	h := newHost(t)
	h.set("65536")
	first := h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.Expect(h.limit()).To(Equal("65536"))
	h.set("70000")
	h.Expect(h.Release(first)).To(Succeed())
	h.Expect(h.limit()).To(Equal("70000"))
}
