// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// fillDisk makes every write to a file fail, as on a full disk, until the returned function is called.
func fillDisk(t *testing.T) (makeRoom func()) {
	t.Helper()
	var limit unix.Rlimit
	set := func(limit unix.Rlimit) { NewWithT(t).Expect(unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)).To(Succeed()) }
	NewWithT(t).Expect(unix.Getrlimit(unix.RLIMIT_FSIZE, &limit)).To(Succeed())
	set(unix.Rlimit{Max: limit.Max})
	t.Cleanup(func() { set(limit) })
	return func() { set(limit) }
}

// countRefusals counts what the engine logs because the store refused a change.
func countRefusals(t *testing.T) *atomic.Int64 {
	t.Helper()
	var count atomic.Int64
	klog.SetLogger(funcr.New(func(_, line string) {
		if strings.Contains(line, unix.EFBIG.Error()) {
			count.Add(1)
		}
	}, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	return &count
}

func TestAReportWaitsForRoomOnTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := countRefusals(t)
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		synctest.Wait()
		makeRoom := fillDisk(t)
		h.machines.Report(made.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		synctest.Wait()
		h.Expect(refusals.Load()).To(BeEquivalentTo(1))
		makeRoom()
		h.Eventually(func() (cloud.BootstrapState, error) {
			now, err := h.tenant.GetInstance(ctx, made.ID)
			return now.Bootstrap.State, err
		}, soon).Should(Equal(cloud.BootstrapSucceeded), "nothing else would tell that the machine is done")
	})
}

// A supervisor that cannot store what it sees must not try without a pause: that would take a CPU and
// fill the host's log, per instance.
func TestTriesAreFewWhileTheDiskIsFull(t *testing.T) {
	refusals := countRefusals(t)
	h := newHost(t)
	h.start()
	made := h.instance("one")
	h.becomes(made.ID, cloud.InstanceRunning)
	makeRoom := fillDisk(t)
	h.machines.Die(made.ID, "killed")
	h.Eventually(refusals.Load, soon).Should(BeEquivalentTo(1))
	h.Consistently(refusals.Load, "200ms").Should(BeNumerically("<=", 2))
	makeRoom()
	h.becomes(made.ID, cloud.InstanceStopped)
}
