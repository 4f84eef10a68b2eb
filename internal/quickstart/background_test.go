// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
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

// A command that looks for the owner at the same moment must not keep a start from locking.
func TestLookingForTheOwnerDoesNotDisturbAStart(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	looking, stop := context.WithCancel(t.Context())
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for looking.Err() == nil {
			_, _ = config.owner()
		}
	}()
	for range 200 {
		state, err := openState(config)
		if err != nil {
			stop()
		}
		g.Expect(err).NotTo(HaveOccurred())
		state.close()
	}
	stop()
	<-looked
}

// cancelling cancels a context when something is written.
type cancelling context.CancelFunc

func (c cancelling) Write(text []byte) (int, error) {
	c()
	return len(text), nil
}

// The test program knows no flag --background, says so and ends.
func TestInterruptWhileTheBackgroundEnds(t *testing.T) {
	g := NewWithT(t)
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- startInBackground(ctx, validConfig(t.TempDir()), []string{"-test.run=^$"}, cancelling(cancel))
		}()
		g.Eventually(ended, time.Minute).Should(Receive(HaveOccurred()))
	}
}

func TestOneCommandAtATime(t *testing.T) {
	g := NewWithT(t)
	parent := t.TempDir()
	config := validConfig(filepath.Join(parent, "state"))
	var running atomic.Int32
	var all errgroup.Group
	for range 20 {
		all.Go(func() error {
			return config.exclusively(t.Context(), io.Discard, func() error {
				if others := running.Add(1) - 1; others > 0 {
					return fmt.Errorf("%d others run", others)
				}
				err := os.WriteFile(config.environmentFile(), nil, 0o600)
				running.Add(-1)
				// Others wait for a folder that is removed.
				return errors.Join(err, os.RemoveAll(config.StateDir))
			})
		})
	}
	g.Expect(all.Wait()).To(Succeed())
	g.Expect(os.ReadDir(parent)).To(BeEmpty(), "what stayed empty is removed")

	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	g.Expect(config.exclusively(t.Context(), io.Discard, func() error {
		cancel()
		return config.exclusively(ctx, &out, func() error { return errors.New("not reached") })
	})).To(MatchError(context.Canceled))
	g.Expect(out.String()).To(Equal("Waiting for another command that uses " + config.StateDir + "\n"))
}

// An interrupted first start leaves nothing; a later start keeps what there was.
func TestInterruptedStart(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\nrm -rf "+config.cloudDir()+"\n"), 0o700)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := func() {
		state, err := openState(config)
		g.Expect(err).NotTo(HaveOccurred())
		state.close()
		g.Expect(os.MkdirAll(config.cloudDir(), 0o700)).To(Succeed())
	}
	begin()
	g.Expect(config.abandon(ctx)).To(Succeed())
	g.Expect(config.StateDir).NotTo(BeADirectory())

	g.Expect(os.Mkdir(config.StateDir, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, backgroundLog), nil, 0o600)).To(Succeed())
	g.Expect(config.abandon(ctx)).To(Succeed())
	g.Expect(os.ReadDir(config.StateDir)).To(BeEmpty())

	begin()
	g.Expect(config.up(ctx, io.Discard)).NotTo(Succeed())
	g.Expect(config.kept()).To(BeTrue())
}

// Whoever starts the management cluster again need not repeat the cloud's configuration.
func TestStartRemembersTheCloudsConfiguration(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.CloudConfig = "/etc/foo/cloud.yaml"
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())

	// The check of the host gets what the cloud will get.
	config.BinDir = t.TempDir()
	calls := filepath.Join(config.BinDir, "calls")
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho \"$@\" >> "+calls+"\nexit 1\n"), 0o700)).To(Succeed())
	for _, test := range []struct{ given, want string }{{"", "/etc/foo/cloud.yaml"}, {"/etc/foo/other.yaml", "/etc/foo/other.yaml"}} {
		config.CloudConfig = test.given
		g.Expect(config.start(t.Context(), io.Discard)).NotTo(Succeed())
		called, err := os.ReadFile(calls)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(called)).To(HaveSuffix("--config " + test.want + "\n"))
	}
	config.Resume = true
	state, err = openState(config)
	g.Expect(err).NotTo(HaveOccurred(), "the configuration may change")
	state.close()
}
