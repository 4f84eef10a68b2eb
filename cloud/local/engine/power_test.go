// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

func TestPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// An order may come while the one before is carried out, which takes up to half a minute for a stop.
func TestTheLastOrderCounts(t *testing.T) {
	for _, test := range []struct {
		name   string
		orders []engine.Power
		starts int
		state  cloud.InstanceState
		frozen bool
	}{
		{"thaw while it freezes", []engine.Power{engine.PowerFreeze, engine.PowerThaw}, 1, cloud.InstanceRunning, false},
		{"freeze while it thaws", []engine.Power{engine.PowerThaw, engine.PowerFreeze}, 1, cloud.InstanceRunning, true},
		{"stop while it freezes", []engine.Power{engine.PowerFreeze, engine.PowerStop}, 1, cloud.InstanceStopped, true},
		{"start while it stops", []engine.Power{engine.PowerStop, engine.PowerStart}, 2, cloud.InstanceRunning, false},
		{"reboot while it stops", []engine.Power{engine.PowerStop, engine.PowerReboot}, 2, cloud.InstanceRunning, false},
		{"stop while it reboots", []engine.Power{engine.PowerReboot, engine.PowerStop}, 1, cloud.InstanceStopped, false},
		{"stop after all", []engine.Power{engine.PowerStop, engine.PowerStart, engine.PowerStop}, 1, cloud.InstanceStopped, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				h.start()
				made := h.instance("one")
				h.becomes(made.ID, cloud.InstanceRunning)
				release := h.machines.HoldSwitches()
				for _, order := range test.orders {
					h.Expect(h.tenant.SwitchInstance(ctx, made.ID, order)).To(Succeed())
					synctest.Wait()
				}
				release()
				synctest.Wait()
				now, err := h.tenant.GetInstance(ctx, made.ID)
				h.Expect(err).NotTo(HaveOccurred())
				h.Expect(now.State).To(Equal(test.state))
				h.Expect(h.machines.Starts()).To(Equal(test.starts))
				h.Expect(h.machines.Frozen(made.ID)).To(Equal(test.frozen))
			})
		})
	}
}

func TestWhatIsAboutToStopIsNotFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		release := h.machines.HoldSwitches()
		defer release()
		h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerStop)).To(Succeed())
		h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerFreeze)).To(MatchError(ContainSubstring("about to stop")))
	})
}

// The processes of an instance may end while no daemon runs that could note that an order is done.
func TestAnOrderIsDoneAfterARestart(t *testing.T) {
	for order, state := range map[engine.Power]cloud.InstanceState{
		engine.PowerStop: cloud.InstanceStopped, engine.PowerReboot: cloud.InstanceRunning,
	} {
		t.Run(string(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				h.start()
				made := h.instance("one")
				h.becomes(made.ID, cloud.InstanceRunning)
				release := h.machines.HoldSwitches()
				h.Expect(h.tenant.SwitchInstance(ctx, made.ID, order)).To(Succeed())
				synctest.Wait()
				h.stop()
				release()
				h.machines.Die(made.ID, "exit status 0")
				h.start()
				synctest.Wait()
				h.becomes(made.ID, state)
				if state == cloud.InstanceStopped {
					h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerStart)).To(Succeed())
					synctest.Wait()
				}
				h.becomes(made.ID, cloud.InstanceRunning)
				h.Expect(h.machines.Starts()).To(Equal(2), "it was started again, once")
			})
		})
	}
}
