// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const busy = "waiting for an etcd snapshot: other snapshots are being taken"

// sized is a member with a database of size MiB.
func sized(size int64) workload.EtcdMember {
	return workload.EtcdMember{Member: workload.Member{DatabaseSize: size * mebi}}
}

// blocking counts its callers, and blocks them until letGo is closed.
func blocking(open *atomic.Int32, letGo <-chan struct{}) Etcd {
	return etcdFunc(func(func(context.Context, workload.EtcdMember) error) error {
		open.Add(1)
		<-letGo
		return refused(1)
	})
}

func TestFewSnapshotsAtOnce(t *testing.T) {
	g := NewWithT(t)
	var open atomic.Int32
	letGo := make(chan struct{})
	task := BeforeControlPlaneUpgrade(Limited(blocking(&open, letGo), 9<<30))
	job := upgradeJob(on(t, nil))
	var running sync.WaitGroup
	outcomes, errs := make([]hooks.Outcome, atOnce), make([]error, atOnce)
	for i := range atOnce {
		running.Go(func() { outcomes[i], errs[i] = task.Run(context.Background(), job) })
	}
	g.Eventually(open.Load).Should(BeEquivalentTo(atOnce), "they reach etcd in goroutines")
	for range 8 {
		g.Expect(task.Run(context.Background(), job)).To(Equal(hooks.Outcome{Message: busy, RetryAfter: time.Second}))
	}
	g.Expect(open.Load()).To(BeEquivalentTo(atOnce))
	close(letGo)
	running.Wait()
	g.Expect(errs).To(HaveEach(Succeed()))
	g.Expect(outcomes).To(HaveEach(HaveField("Message", Not(Equal(busy)))))
	outcome, err := task.Run(context.Background(), job)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outcome.Message).NotTo(Equal(busy), "their turns are free again")
}

func TestSnapshotsFitTogetherIntoTheRoom(t *testing.T) {
	g := NewWithT(t)
	left := t.TempDir()
	t.Setenv("TMPDIR", left)
	var member workload.EtcdMember
	way := Limited(etcdFunc(func(do func(context.Context, workload.EtcdMember) error) error { return do(t.Context(), member) }), 1<<30)
	task := BeforeControlPlaneUpgrade(way)
	held := func(size int64) string {
		member = sized(size)
		outcome, err := task.Run(context.Background(), upgradeJob(on(t, nil)))
		g.Expect(err).NotTo(HaveOccurred())
		return outcome.Message
	}
	g.Expect(held(961)).To(Equal("waiting for an etcd snapshot: the etcd database needs up to 1025 MiB for a temporary file, " +
		"but only 1024 MiB are available: install the runtime extension with more (FOO_SNAPSHOT_SIZE_LIMIT)"))

	member = sized(500)
	g.Expect(way.WithHealthyEtcdMember(context.Background(), key, func(context.Context, workload.EtcdMember) error {
		g.Expect(held(397)).To(Equal(busy), "564 MiB of 1024 are taken, and 461 are wanted")
		return nil
	})).To(Succeed())
	g.Expect(os.ReadDir(left)).To(BeEmpty(), "no file is begun that does not fit")
	reached := false
	member = sized(960)
	g.Expect(way.WithHealthyEtcdMember(context.Background(), key, func(context.Context, workload.EtcdMember) error {
		reached = true
		return nil
	})).To(Succeed())
	g.Expect(reached).To(BeTrue(), "the room is free again")
}
