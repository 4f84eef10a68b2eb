// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

func TestPower(t *testing.T) {
	h := newHost(t)
	h.start()
	made := h.instance("one")
	h.becomes(made.ID, cloud.InstanceRunning)
	h.machines.Report(made.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
	h.Eventually(func() (cloud.BootstrapState, error) {
		now, err := h.tenant.GetInstance(ctx, made.ID)
		return now.Bootstrap.State, err
	}, soon).Should(Equal(cloud.BootstrapSucceeded), "reports are events")
	does := func(action engine.Power) { h.Expect(h.tenant.SwitchInstance(ctx, made.ID, action)).To(Succeed()) }
	message := func() (string, error) {
		now, err := h.tenant.GetInstance(ctx, made.ID)
		return now.Message, err
	}

	does(engine.PowerFreeze)
	h.Eventually(message, soon).Should(Equal("frozen by a user"))
	h.Expect(h.machines.Frozen(made.ID)).To(BeTrue())
	does(engine.PowerThaw)
	h.Eventually(message, soon).Should(BeEmpty())
	h.Expect(h.machines.Frozen(made.ID)).To(BeFalse())

	does(engine.PowerStop)
	h.Expect(h.becomes(made.ID, cloud.InstanceStopped).Message).To(Equal("stopped by a user"))
	h.Expect(h.machines.Running()).To(BeZero())
	does(engine.PowerStop)
	h.start()
	h.becomes(made.ID, cloud.InstanceStopped)
	does(engine.PowerStart)
	again := h.becomes(made.ID, cloud.InstanceRunning)
	h.Expect(again.Address).To(Equal(made.Address))
	h.Expect(again.Message).To(BeEmpty())
	h.Expect(h.machines.Spec(made.ID).KeepDisk).To(BeTrue())
	h.Expect(string(h.machines.Spec(made.ID).UserData)).To(Equal("#cloud-config\n"), "its bootstrap has ended")
	does(engine.PowerStart)

	before := h.machines.Starts()
	does(engine.PowerReboot)
	h.Eventually(h.machines.Starts, soon).Should(Equal(before + 1))
	h.becomes(made.ID, cloud.InstanceRunning)
	h.Expect(h.machines.Running()).To(Equal(1))

	h.Expect(h.tenant.SwitchInstance(ctx, made.ID, "explode")).To(MatchError(ContainSubstring("freeze, reboot, start, stop, thaw")))
	h.Expect(cloud.IsNotFound(h.tenant.SwitchInstance(ctx, "none", engine.PowerStop))).To(BeTrue())
	does(engine.PowerStop)
	h.becomes(made.ID, cloud.InstanceStopped)
	h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerFreeze)).To(MatchError(ContainSubstring("the instance is Stopped, and must be Running")))
}
