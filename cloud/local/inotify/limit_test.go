// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package inotify

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// host is a host whose limit is in a file.
type host struct {
	*GomegaWithT
	t *testing.T
	Limit
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{GomegaWithT: NewWithT(t), t: t, Limit: Limit{file: filepath.Join(t.TempDir(), "limit"), folder: filepath.Join(t.TempDir(), "claims")}}
	h.set(128)
	return h
}

func (h *host) set(value int) { h.Expect(h.write(value)).To(Succeed()) }

// cloud returns the file of a new cloud.
func (h *host) cloud() string {
	file := filepath.Join(h.t.TempDir(), "state.db")
	h.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	return file
}

func TestLastCloudRestoresTheLimit(t *testing.T) {
	h := newHost(t)
	first, second := h.cloud(), h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.Expect(h.read()).To(Equal(8192))
	h.Expect(h.Claim(second)).To(Succeed())
	h.Expect(h.Claim(first)).To(Succeed(), "as after a restart of the daemon")
	h.Expect(h.Release(first)).To(Succeed())
	h.Expect(h.read()).To(Equal(8192), "the second cloud needs it")
	h.Expect(h.Release(second)).To(Succeed())
	h.Expect(h.read()).To(Equal(128))
	h.Expect(h.Release(second)).To(Succeed(), "the call is idempotent")
}

func TestCloudThatVanishedHoldsNoLimit(t *testing.T) {
	h := newHost(t)
	first, second := h.cloud(), h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.Expect(h.Claim(second)).To(Succeed())
	h.Expect(os.Remove(first)).To(Succeed())
	h.Expect(h.Release(second)).To(Succeed())
	h.Expect(h.read()).To(Equal(128))
}

func TestLimitIsOnlyRaised(t *testing.T) {
	for value, want := range map[int]int{8191: 8192, 8192: 8192, 65536: 65536} {
		h := newHost(t)
		h.set(value)
		file := h.cloud()
		h.Expect(h.Claim(file)).To(Succeed())
		h.Expect(h.read()).To(Equal(want))
		h.Expect(h.Release(file)).To(Succeed())
		h.Expect(h.read()).To(Equal(value))
	}
}

func TestLimitThatOthersSetStays(t *testing.T) {
	h := newHost(t)
	first, second := h.cloud(), h.cloud()
	h.Expect(h.Claim(first)).To(Succeed())
	h.set(70000)
	h.Expect(h.Claim(second)).To(Succeed())
	h.Expect(h.read()).To(Equal(70000))
	h.Expect(h.Release(first)).To(Succeed())
	h.Expect(h.Release(second)).To(Succeed())
	h.Expect(h.read()).To(Equal(70000))
}
