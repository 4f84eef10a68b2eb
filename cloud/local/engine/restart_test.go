// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// soon is a generous timeout for the work of a few goroutines. Tests that wait for it are in a bubble of
// synctest, whose clock stands still while anything in it can run. So neither a busy machine nor one
// that was suspended makes them fail.
const soon = time.Minute

var ctx = context.Background()

// host is a machine on which an engine can be killed and restarted.
type host struct {
	*GomegaWithT
	database  string // path of the store's file
	store     *store.Store
	machines  *fake.Machines
	balancers *fake.Balancers
	limits    cloud.Resources
	removed   bool // the tenant from the configuration
	boots     int
	images    []cloud.Image
	readErr   error // of the images
	reads     int   // how often the images were read
	engine    *engine.Engine
	tenant    *engine.Tenant
	stop      func()
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		GomegaWithT: NewWithT(t), machines: fake.NewMachines(), balancers: fake.NewBalancers(),
		images: []cloud.Image{{KubernetesVersion: "v1.36.3"}}, stop: func() {},
	}
	var err error
	h.database = filepath.Join(t.TempDir(), "state.db")
	h.store, err = store.Open(h.database)
	h.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		h.stop()
		_ = h.store.Close()
	})
	return h
}

func (h *host) newEngine() *engine.Engine {
	limits := map[string]cloud.Resources{"a": h.limits}
	if h.removed {
		delete(limits, "a")
	}
	return engine.New(engine.Options{
		Store: h.store, Machines: h.machines, Balancers: h.balancers, Network: netip.MustParsePrefix("10.64.0.0/12"),
		Zones:         []cloud.Zone{{Name: "zone-a"}, {Name: "zone-b"}},
		InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 1 << 31}},
		Images: func() ([]cloud.Image, error) {
			h.reads++
			return h.images, h.readErr
		},
		Limits: limits,
		Boots:  h.boots,
	})
}

// start starts an engine. It replaces the running one, if any.
func (h *host) start() {
	h.stop()
	e := h.newEngine()
	running, cancel := context.WithCancel(ctx)
	h.Expect(e.Start(running)).To(Succeed())
	h.engine, h.tenant = e, e.Tenant("a")
	h.stop = func() {
		cancel()
		e.Wait()
	}
}

func template() cloud.InstanceTemplate {
	return cloud.InstanceTemplate{
		Type: "small", KubernetesVersion: "v1.36.3", Tags: cloud.Tags{"cluster": "one"}, UserData: []byte("data"),
	}
}

func (h *host) instance(name string) cloud.Instance {
	made, err := h.tenant.EnsureInstance(ctx, cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: template()})
	h.Expect(err).NotTo(HaveOccurred())
	return made
}

func (h *host) becomes(id string, state cloud.InstanceState) cloud.Instance {
	var now cloud.Instance
	h.Eventually(func() (cloud.InstanceState, error) {
		var err error
		now, err = h.tenant.GetInstance(ctx, id)
		return now.State, err
	}, soon).Should(Equal(state), "the supervisor acts on its own")
	return now
}

func (h *host) goes(id string) {
	h.Eventually(func() bool {
		_, err := h.tenant.GetInstance(ctx, id)
		return cloud.IsNotFound(err)
	}, soon).Should(BeTrue(), "a deletion ends with NotFound")
}

func TestRestartFindsInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		kept, lost := h.instance("kept"), h.instance("lost")
		h.becomes(kept.ID, cloud.InstanceRunning)
		h.becomes(lost.ID, cloud.InstanceRunning)
		h.stop()
		h.Expect(h.machines.Running()).To(Equal(2), "instances outlive the engine")
		h.machines.Die(lost.ID, "killed")
		h.start()
		h.Expect(h.becomes(lost.ID, cloud.InstanceStopped).Message).To(ContainSubstring("ended"))
		h.machines.Report(kept.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		h.Eventually(func() (cloud.BootstrapState, error) {
			now, err := h.tenant.GetInstance(ctx, kept.ID)
			return now.Bootstrap.State, err
		}, soon).Should(Equal(cloud.BootstrapSucceeded), "one that was found again is supervised")
		h.machines.Die(kept.ID, "killed")
		h.becomes(kept.ID, cloud.InstanceStopped)
	})
}

func TestARestartOfTheHostStartsWhatRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		ran, stopped := h.instance("ran"), h.instance("stopped")
		h.becomes(ran.ID, cloud.InstanceRunning)
		h.becomes(stopped.ID, cloud.InstanceRunning)
		h.machines.Die(stopped.ID, "killed")
		h.becomes(stopped.ID, cloud.InstanceStopped)
		h.stop()
		h.machines.Die(ran.ID, "power failure")
		h.Expect(h.store.Update(func(tx *store.Tx) error {
			record, err := tx.Instance(ran.ID)
			if err != nil {
				return err
			}
			record.Process.BootID = "the boot before"
			return tx.PutInstance(record)
		})).To(Succeed())
		h.start()
		again := h.becomes(ran.ID, cloud.InstanceRunning)
		h.Eventually(h.machines.Running, soon).Should(Equal(1))
		h.Expect(again.Address).To(Equal(ran.Address))
		h.Expect(h.machines.Spec(ran.ID).KeepDisk).To(BeTrue(), "with what it has written")
		h.becomes(stopped.ID, cloud.InstanceStopped)
	})
}

func TestRestartKeepsWhatItCanNotLookAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		_, err := h.tenant.EnsureLoadBalancer(ctx, cloud.LoadBalancerSpec{Name: "lb", Port: 1, Selector: cloud.Tags{"cluster": "one"}})
		h.Expect(err).NotTo(HaveOccurred())
		ready := func() (bool, error) {
			now, err := h.tenant.GetLoadBalancer(ctx, "lb")
			return now.Ready, err
		}
		h.Eventually(ready, soon).Should(BeTrue(), "the process listens")
		h.stop()
		h.machines.FailNextFind(errors.New("too many open files"))
		h.balancers.FailNextFind(errors.New("too many open files"))
		h.start()
		h.machines.Report(made.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		var now cloud.Instance
		h.Eventually(func() (cloud.BootstrapState, error) {
			var err error
			now, err = h.tenant.GetInstance(ctx, made.ID)
			return now.Bootstrap.State, err
		}, soon).Should(Equal(cloud.BootstrapSucceeded), "it is looked for again, and supervised then")
		h.Expect(now.State).To(Equal(cloud.InstanceRunning), "an instance that runs was never taken for one that does not")
		h.Eventually(ready, soon).Should(BeTrue(), "the load balancer is looked for again")
		h.Expect(h.balancers.Starts()).To(Equal(1), "another process would have cut the connections of all clients")
	})
}

func TestRestartFinishesHalfMadeInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		h.stop()
		// Simulate a daemon that was killed after it stored the process, but before it learned that the
		// start had succeeded.
		h.Expect(h.store.Update(func(tx *store.Tx) error {
			record, err := tx.Instance(made.ID)
			if err != nil {
				return err
			}
			record.State = cloud.InstancePending
			record.Process = &process.Identity{PID: 1, StartTime: 1, BootID: "fake"}
			return tx.PutInstance(record)
		})).To(Succeed())
		h.start()
		h.becomes(made.ID, cloud.InstanceRunning)
		h.Expect(h.machines.Running()).To(Equal(1), "the half-made one was removed first")
		h.Expect(h.machines.Spec(made.ID).UserData).To(Equal([]byte("data")))
	})
}

func TestRestartFinishesDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		release := h.machines.HoldRemovals()
		h.Expect(h.tenant.DeleteInstance(ctx, made.ID)).To(Succeed())
		h.Expect(h.tenant.DeleteInstance(ctx, made.ID)).To(Succeed(), "a deletion may be asked for again")
		h.stop()
		release()
		h.start()
		h.goes(made.ID)
	})
}

func TestRestartFindsLoadBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		spec := cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"cluster": "one"}}
		made, err := h.tenant.EnsureLoadBalancer(ctx, spec)
		h.Expect(err).NotTo(HaveOccurred())
		ready := func() (bool, error) {
			now, err := h.tenant.GetLoadBalancer(ctx, "lb")
			h.Expect(now.Address).To(Equal(made.Address), "the address never changes")
			return now.Ready, err
		}
		h.Eventually(ready, soon).Should(BeTrue(), "the process listens")
		h.stop()
		h.Expect(h.balancers.Running()).To(Equal(1), "load balancers outlive the engine")
		h.start()
		instance := h.instance("one")
		h.Eventually(h.balancers.Addresses, soon).Should(Equal([]string{instance.Address}), "it is told its backends")
		h.stop()
		h.balancers.KillAll()
		h.start()
		h.Eventually(h.balancers.Running, soon).Should(Equal(1), "one that died meanwhile is started again")
		h.Eventually(ready, soon).Should(BeTrue(), "the process listens")
	})
}

func TestFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.machines.FailStarts(errors.New("no room in memory"))
		made := h.instance("one")
		h.Expect(h.becomes(made.ID, cloud.InstanceFailed).Message).To(ContainSubstring("no room in memory"))
		h.Expect(h.tenant.DeleteInstance(ctx, made.ID)).To(Succeed())
		h.goes(made.ID)
	})
}

func TestAnInstanceWithDataCanBeStartedAfterAFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, starts := range map[string]engine.Power{"started": engine.PowerStart, "rebooted": engine.PowerReboot} {
			h := newHost(t)
			h.start()
			made := h.instance(name)
			h.becomes(made.ID, cloud.InstanceRunning)
			if starts == engine.PowerStart {
				h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerStop)).To(Succeed())
				h.becomes(made.ID, cloud.InstanceStopped)
			}
			h.machines.FailStarts(errors.New("no space left on device"))
			h.Expect(h.tenant.SwitchInstance(ctx, made.ID, starts)).To(Succeed())
			<-time.After(time.Second)
			h.Expect(h.becomes(made.ID, cloud.InstanceStopped).Message).To(Equal("the instance did not start again: no space left on device"))
			h.machines.FailStarts(nil)
			h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerStart)).To(Succeed())
			h.Expect(h.becomes(made.ID, cloud.InstanceRunning).Message).To(BeEmpty())
			h.Expect(h.machines.Spec(made.ID).KeepDisk).To(BeTrue(), "with what it has written")
		}
	})
}

func TestOnlyFailedBootstrapDataIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		failed := cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "it failed"}
		succeeded := cloud.Bootstrap{State: cloud.BootstrapSucceeded}
		reports := func(report cloud.Bootstrap) cloud.Bootstrap {
			h.becomes(made.ID, cloud.InstanceRunning)
			h.machines.Report(made.ID, report)
			synctest.Wait()
			return h.becomes(made.ID, cloud.InstanceRunning).Bootstrap
		}
		reboots := func() {
			h.Expect(h.tenant.SwitchInstance(ctx, made.ID, engine.PowerReboot)).To(Succeed())
			synctest.Wait()
			reports(cloud.Bootstrap{State: cloud.BootstrapPending})
		}
		h.Expect(reports(succeeded)).To(Equal(succeeded))
		reboots()
		h.Expect(reports(failed)).To(Equal(failed), "it did not boot")
		reboots()
		h.Expect(reports(succeeded)).To(Equal(succeeded), "it boots again")

		made = h.instance("two")
		h.Expect(reports(failed)).To(Equal(failed))
		reboots()
		h.Expect(reports(succeeded)).To(Equal(failed), "its data has not run to the end")
	})
}

func TestFailedLoadBalancerSaysWhyAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.balancers.FailStarts(errors.New("port is taken"))
		_, err := h.tenant.EnsureLoadBalancer(ctx, cloud.LoadBalancerSpec{Name: "lb", Port: 1, Selector: cloud.Tags{"a": "b"}})
		h.Expect(err).NotTo(HaveOccurred())
		h.Eventually(func() (string, error) {
			now, err := h.tenant.GetLoadBalancer(ctx, "lb")
			return now.Message, err
		}, soon).Should(ContainSubstring("port is taken"), "the reason is where the user looks")
		h.balancers.FailStarts(nil)
		h.Eventually(func() (bool, error) {
			now, err := h.tenant.GetLoadBalancer(ctx, "lb")
			return now.Ready, err
		}, soon).Should(BeTrue(), "it is tried again")
	})
}

func TestLoadBalancerRecoversWithoutAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		_, err := h.tenant.EnsureLoadBalancer(ctx, cloud.LoadBalancerSpec{Name: "lb", Port: 1, Selector: cloud.Tags{"cluster": "one"}})
		h.Expect(err).NotTo(HaveOccurred())
		type shown struct {
			Ready   bool
			Message string
		}
		shows := func() (shown, error) {
			now, err := h.tenant.GetLoadBalancer(ctx, "lb")
			return shown{Ready: now.Ready, Message: now.Message}, err
		}
		h.Eventually(shows, soon).Should(Equal(shown{Ready: true}), "the process listens")

		h.balancers.FailBackends(errors.New("no space left on device"))
		h.instance("one")
		h.Eventually(shows, soon).Should(Equal(shown{Message: "no space left on device"}), "the reason is where the user looks")
		h.balancers.FailBackends(nil)
		h.Eventually(shows, soon).Should(Equal(shown{Ready: true}), "an error that has passed leaves no trace")

		h.balancers.FailBackends(errors.New("no space left on device"))
		h.instance("two")
		h.Eventually(shows, soon).Should(Equal(shown{Message: "no space left on device"}), "the reason is where the user looks")
		h.stop()
		h.balancers.FailBackends(nil)
		h.start()
		h.Eventually(shows, soon).Should(Equal(shown{Ready: true}), "an error that has passed leaves no trace")
		h.Expect(h.balancers.Addresses()).To(HaveLen(2))
		h.Expect(h.balancers.Starts()).To(Equal(1), "another process would have cut the connections of all clients")
	})
}

func TestAddressIsUsedAgainOnlyWhenFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		one, two := h.instance("one"), h.instance("two")
		h.Expect(h.tenant.DeleteInstance(ctx, one.ID)).To(Succeed())
		h.goes(one.ID)
		three := h.instance("one")
		h.Expect(three.ID).NotTo(Equal(one.ID), "IDs are never used again")
		h.Expect(three.Address).NotTo(BeElementOf(one.Address, two.Address), "an address that just became free rests")
	})
}

func TestNewLimitFillsPools(t *testing.T) {
	h := newHost(t)
	h.limits = cloud.Resources{CPUs: 2}
	h.start()
	pool, err := h.tenant.EnsurePool(ctx, cloud.PoolSpec{
		Name: "pool", HostnamePrefix: "p", Size: 3, Revision: "r", Template: template(),
	}, "")
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(pool.Instances).To(BeEquivalentTo(1))
	h.limits = cloud.Resources{}
	h.start()
	pool, err = h.tenant.GetPool(ctx, "pool")
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(pool.Instances).To(BeEquivalentTo(3))
	h.Expect(pool.Problem).To(BeNil())
}

func TestMemberIsReplacedOnlyWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		spec := cloud.PoolSpec{Name: "pool", HostnamePrefix: "p", Size: 2, Revision: "one", Template: template()}
		pool, err := h.tenant.EnsurePool(ctx, spec, "")
		h.Expect(err).NotTo(HaveOccurred())
		list, err := h.tenant.ListInstances(ctx, cloud.InstanceFilter{Pool: "pool"})
		h.Expect(err).NotTo(HaveOccurred())
		h.becomes(list[0].ID, cloud.InstanceRunning)
		h.machines.Die(list[0].ID, "killed")
		h.becomes(list[0].ID, cloud.InstanceStopped)
		spec.Revision = "two"
		pool, err = h.tenant.EnsurePool(ctx, spec, pool.Version)
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(pool.Instances).To(BeEquivalentTo(2), "a stopped instance counts until it is deleted")
		h.Expect(h.tenant.DeleteInstance(ctx, list[0].ID)).To(Succeed())
		pool, err = h.tenant.GetPool(ctx, "pool")
		h.Expect(err).NotTo(HaveOccurred())
		_, err = h.tenant.ScalePool(ctx, "pool", 2, pool.Version)
		h.Expect(err).NotTo(HaveOccurred())
		list, err = h.tenant.ListInstances(ctx, cloud.InstanceFilter{Pool: "pool"})
		h.Expect(err).NotTo(HaveOccurred())
		revisions := map[string]int{}
		for _, instance := range list {
			if instance.State != cloud.InstanceDeleting {
				revisions[instance.Revision]++
			}
		}
		h.Expect(revisions).To(Equal(map[string]int{"one": 1, "two": 1}), "only new instances have the new revision")
	})
}

func TestImmutableFields(t *testing.T) {
	h := newHost(t)
	h.start()
	h.instance("one")
	spec := cloud.InstanceSpec{Name: "one", Hostname: "one", InstanceTemplate: template()}
	for field, change := range map[string]func(*cloud.InstanceSpec){
		"hostname": func(s *cloud.InstanceSpec) { s.Hostname = "two" },
		"zone":     func(s *cloud.InstanceSpec) { s.Zone = "zone-b" },
		"type":     func(s *cloud.InstanceSpec) { s.Type = "large" },
		"tags":     func(s *cloud.InstanceSpec) { s.Tags = nil },
	} {
		changed := spec
		change(&changed)
		_, err := h.tenant.EnsureInstance(ctx, changed)
		h.Expect(cloud.IsInvalid(err)).To(BeTrue(), field)
		h.Expect(err.Error()).To(HavePrefix(field))
	}
	spec.UserData = []byte("renewed token")
	_, err := h.tenant.EnsureInstance(ctx, spec)
	h.Expect(err).NotTo(HaveOccurred(), "bootstrap data may be rendered again")
}

func TestRemoveEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.instance("one")
		_, err := h.tenant.EnsurePool(ctx, cloud.PoolSpec{Name: "pool", HostnamePrefix: "p", Size: 2, Revision: "r", Template: template()}, "")
		h.Expect(err).NotTo(HaveOccurred())
		_, err = h.tenant.EnsureLoadBalancer(ctx, cloud.LoadBalancerSpec{Name: "lb", Port: 1, Selector: cloud.Tags{"a": "b"}})
		h.Expect(err).NotTo(HaveOccurred())
		h.stop()
		h.Expect(h.newEngine().Remove(ctx)).To(Succeed())
		h.Expect(h.machines.Running()).To(BeZero())
		h.Expect(h.balancers.Running()).To(BeZero())
	})
}
