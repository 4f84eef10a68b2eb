// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestOwnerOfAStateFolder(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	g.Expect(config.owner()).To(BeZero(), "there is no folder")
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.owner()).To(Equal(os.Getpid()))
	state.close()
	g.Expect(config.owner()).To(BeZero(), "the lock ends with its process")
	g.Expect(config.stopOwner(t.Context())).To(Succeed())
}

func TestWhatAStartInTheBackgroundLeftIsNoState(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, backgroundLog), nil, 0o600)).To(Succeed())
	g.Expect(config.kept()).To(BeFalse())
	g.Expect(checkState(config)).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	g.Expect(os.MkdirAll(config.cloudDir(), 0o700)).To(Succeed())
	g.Expect(config.kept()).To(BeTrue())
}

func TestWaitUp(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	var out bytes.Buffer
	show := func() { out.WriteString("shown") }
	ended := make(chan error, 1)
	ended <- errors.New("exit status 1")
	g.Expect(config.waitUp(t.Context(), ended, show)).To(MatchError(ContainSubstring("exit status 1")))
	g.Expect(out.String()).To(ContainSubstring("shown"), "what the process said last is shown")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(config.waitUp(ctx, nil, show)).To(MatchError(context.Canceled))
	g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
	g.Expect(config.waitUp(t.Context(), nil, show)).To(Succeed())
}
