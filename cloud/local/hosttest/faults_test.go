//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// spot boots an interruptible instance, which the cloud may reclaim.
func (d *daemon) spot(ctx SpecContext, name string) cloud.Instance {
	GinkgoHelper()
	wanted := spec(name, "")
	wanted.Interruptible = true
	made, err := d.client.EnsureInstance(ctx, wanted)
	Expect(err).NotTo(HaveOccurred())
	return d.awaitState(ctx, made.ID, cloud.InstanceRunning)
}

// nothingLeft waits until an instance is deleted and expects that none of its files, processes and
// network cards remain.
func (d *daemon) nothingLeft(ctx SpecContext, id string) {
	GinkgoHelper()
	Eventually(func() bool {
		_, err := d.client.GetInstance(ctx, id)
		return cloud.IsNotFound(err)
	}, soon).Should(BeTrue(), "the instance goes by itself")
	folder := filepath.Join(d.state, "instances", id)
	Expect(folder).NotTo(BeADirectory())
	Expect(d.processes(folder + "/")).To(BeEmpty())
	Expect(d.cards()).NotTo(ContainElement("foo" + id))
}

var _ = Describe("faults on purpose", func() {
	It("fails to boot, boots slowly, and boots well again", func(ctx SpecContext) {
		d := newDaemon()
		d.run("faults", "add", "broken", "--kind=BootFailure", "--count=1")
		made, err := d.client.EnsureInstance(ctx, spec("broken", ""))
		Expect(err).NotTo(HaveOccurred())
		Expect(d.awaitState(ctx, made.ID, cloud.InstanceFailed).Message).To(ContainSubstring("fault rule broken"))
		d.run("faults", "add", "slow", "--kind=SlowBoot", "--delay=1s")
		began := time.Now()
		Expect(d.boot(ctx, "slow", "").State).To(Equal(cloud.InstanceRunning))
		Expect(time.Since(began)).To(BeNumerically(">=", time.Second))
		Expect(d.run("faults", "list")).To(And(MatchRegexp(`default +broken +BootFailure .* 1 of 1 `), ContainSubstring("delay=1s")))
		Expect(d.run("faults", "remove", "broken", "slow")).To(ContainSubstring("removed slow"))
		Expect(d.boot(ctx, "well", "").State).To(Equal(cloud.InstanceRunning))
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
	})

	It("stops an instance of a zone, or all of them", func(ctx SpecContext) {
		d := newDaemon()
		first, second := d.boot(ctx, "first", ""), d.boot(ctx, "second", "")
		Expect(first.Zone).NotTo(Equal(second.Zone))
		pid := d.firstProcess(first.ID)
		d.run("faults", "add", "stop", "--kind=StoppedInstance", "--zone="+first.Zone)
		Expect(d.awaitState(ctx, first.ID, cloud.InstanceStopped).Message).To(ContainSubstring("fault rule stop"))
		Expect(syscall.Kill(pid, 0)).To(MatchError(syscall.ESRCH))
		Expect(d.run("logs", first.ID)).NotTo(ContainSubstring("stopped gently"), "it is as if the power had failed")
		d.run("faults", "add", "outage", "--kind=ZoneOutage", "--zone="+second.Zone)
		Expect(d.awaitState(ctx, second.ID, cloud.InstanceStopped).Message).To(ContainSubstring("zone " + second.Zone + " is out"))
		d.run("faults", "remove", "stop", "outage")
		for _, id := range []string{first.ID, second.ID} {
			Expect(d.client.DeleteInstance(ctx, id)).To(Succeed())
			d.nothingLeft(ctx, id)
		}
	})

	It("starts the instances of a zone again after an outage, with what they had written", func(ctx SpecContext) {
		d := newDaemon()
		const script = `echo boot >> /etc/kubernetes/boots; touch /run/there; echo done`
		made := d.boot(ctx, "one", script)
		pid := d.firstProcess(made.ID)
		d.run("faults", "add", "outage", "--kind=ZoneOutage", "--zone="+made.Zone, "--after-outage=StartAgain")
		d.awaitState(ctx, made.ID, cloud.InstanceStopped)
		d.run("faults", "remove", "outage")
		again := d.awaitState(ctx, made.ID, cloud.InstanceRunning)
		Expect(again.Address).To(Equal(made.Address))
		Expect(d.firstProcess(made.ID)).NotTo(Equal(pid))
		boots, err := os.ReadFile(filepath.Join(d.state, "instances", made.ID, "private", "kubernetes", "boots"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(boots)).To(Equal("boot\n"), "its disk is there, and its bootstrap data did not run again")
		Eventually(func() (string, error) {
			now, err := d.client.GetInstance(ctx, made.ID)
			return string(now.Bootstrap.State), err
		}, soon).Should(Equal(string(cloud.BootstrapSucceeded)), "it reports again")
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
	})

	It("loses an instance with all of it", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		d.run("faults", "add", "lost", "--kind=LostInstance")
		d.nothingLeft(ctx, made.ID)
	})

	It("takes an interruptible instance back after a notice, also when the daemon is killed meanwhile", func(ctx SpecContext) {
		d := newDaemon()
		kept, spot := d.boot(ctx, "kept", ""), d.spot(ctx, "spot")
		began := time.Now()
		d.run("faults", "add", "reclaim", "--kind=SpotReclaim", "--notice=30s")
		at := d.await(ctx, spot.ID, func(i cloud.Instance) bool { return i.ReclaimAt != nil }).ReclaimAt
		Expect(*at).To(And(BeTemporally(">=", began.Add(30*time.Second)), BeTemporally("<=", time.Now().Add(30*time.Second))))
		Expect(d.run("instances")).To(ContainSubstring("will be reclaimed at"))
		d.kill(syscall.SIGKILL)
		d.start()
		d.nothingLeft(ctx, spot.ID)
		Expect(time.Now()).To(BeTemporally(">=", *at), "it has all the time that it was told")
		Expect(d.awaitState(ctx, kept.ID, cloud.InstanceRunning).ReclaimAt).To(BeNil())
	})
})
