// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// fillDisk makes the store's writes fail, as on a full disk, until the returned function is called.
func (h *host) fillDisk(t *testing.T) (makeRoom func()) {
	t.Helper()
	database := h.descriptor(h.database)
	kept, err := unix.FcntlInt(uintptr(database), unix.F_DUPFD_CLOEXEC, 0)
	h.Expect(err).NotTo(HaveOccurred())
	full, err := unix.Open("/dev/full", unix.O_RDWR|unix.O_CLOEXEC, 0)
	h.Expect(err).NotTo(HaveOccurred())
	become := func(descriptor int) { h.Expect(unix.Dup3(descriptor, database, unix.O_CLOEXEC)).To(Succeed()) }
	makeRoom = sync.OnceFunc(func() {
		become(kept)
		h.Expect(unix.Close(kept)).To(Succeed())
	})
	become(full)
	h.Expect(unix.Close(full)).To(Succeed())
	t.Cleanup(makeRoom)
	return makeRoom
}

// descriptor returns the descriptor of a file that this process has open.
func (h *host) descriptor(path string) int {
	entries, err := os.ReadDir("/proc/self/fd")
	h.Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && target == path {
			number, err := strconv.Atoi(entry.Name())
			h.Expect(err).NotTo(HaveOccurred())
			return number
		}
	}
	h.Expect(false).To(BeTrue(), path+" is not open")
	return -1
}

// countRefusals counts what the engine logs because the store refused a change.
func countRefusals(t *testing.T) *atomic.Int64 {
	t.Helper()
	var count atomic.Int64
	klog.SetLogger(funcr.New(func(_, line string) {
		if strings.Contains(line, unix.ENOSPC.Error()) {
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
		makeRoom := h.fillDisk(t)
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
	synctest.Test(t, func(t *testing.T) {
		refusals := countRefusals(t)
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		synctest.Wait()
		makeRoom := h.fillDisk(t)
		h.machines.Die(made.ID, "killed")
		synctest.Wait()
		h.Expect(refusals.Load()).To(BeEquivalentTo(1))
		<-time.After(9 * time.Second)
		synctest.Wait()
		h.Expect(refusals.Load()).To(BeEquivalentTo(5), "one each two seconds")
		makeRoom()
		h.becomes(made.ID, cloud.InstanceStopped)
	})
}
