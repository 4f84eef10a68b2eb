// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// lists checks that lists always include existing instances while others are created and deleted.
func (s *suite) lists() {
	ctx := s.t.Context()
	s.createPool(s.pool(1, "r1"))
	stays := s.eventuallyMembers(1)[0]
	alone := s.order("alone")
	s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.ConsistOf(stays.Name, "alone"), "what was just made is listed")
	ended := make(chan error, 1)
	go func() { ended <- s.churn(ctx) }()
	for {
		s.Expect(s.names(cloud.InstanceFilter{Pool: poolName})).To(gomega.ConsistOf(stays.Name))
		s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.ContainElements(stays.Name, "alone"))
		_, err := s.cloud.GetInstance(ctx, alone.ID)
		s.Expect(err).NotTo(gomega.HaveOccurred())
		select {
		case err := <-ended:
			s.Expect(err).NotTo(gomega.HaveOccurred())
			return
		default:
		}
	}
}

// churn creates and deletes an instance a few times.
func (s *suite) churn(ctx context.Context) error {
	for range 3 {
		made, err := s.cloud.EnsureInstance(ctx, s.spec("passing"))
		if err != nil {
			return err
		}
		deadline := time.Now().Add(s.Patience)
		for err == nil && time.Now().Before(deadline) {
			err = s.cloud.DeleteInstance(ctx, made.ID)
		}
		if !cloud.IsNotFound(err) {
			return fmt.Errorf("delete an instance: %w", err)
		}
	}
	return nil
}

// readsAfterCalls checks that every call is visible to the reads after it, even where its work goes
// on.
func (s *suite) readsAfterCalls() {
	ctx := s.t.Context()
	made := s.order("one")
	s.Expect(s.cloud.DrainInstance(ctx, made.ID)).To(gomega.Succeed())
	now, err := s.cloud.GetInstance(ctx, made.ID)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(now.Draining).To(gomega.BeTrue())
	s.Expect(s.cloud.DeleteInstance(ctx, made.ID)).To(gomega.Succeed())
	s.onlyDeleting(cloud.InstanceFilter{Name: "one"})

	pool := s.createPool(s.pool(2, "r1"))
	pools, err := s.cloud.ListPools(ctx, nil)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(pools).To(gomega.ConsistOf(gomega.HaveField("Version", pool.Version)))
	members := s.eventuallyMembers(2)
	s.Expect(s.cloud.DeleteInstance(ctx, members[0].ID)).To(gomega.Succeed())
	s.Expect(s.getPool().Size).To(gomega.BeEquivalentTo(1))
	s.Expect(s.getPool().Instances).To(gomega.BeEquivalentTo(1), "what is being deleted has left the pool")
	s.onlyDeleting(cloud.InstanceFilter{Name: members[0].Name})
	s.Expect(s.cloud.DeletePool(ctx, poolName)).To(gomega.Succeed())
	s.onlyDeleting(cloud.InstanceFilter{Pool: poolName})
	pools, err = s.cloud.ListPools(ctx, nil)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	for _, one := range pools {
		s.Expect(one.Deleting).To(gomega.BeTrue())
	}
}

// onlyDeleting expects that the instances are gone or being deleted.
func (s *suite) onlyDeleting(filter cloud.InstanceFilter) {
	s.t.Helper()
	list, err := s.cloud.ListInstances(s.t.Context(), filter)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	for _, one := range list {
		s.Expect(one.State).To(gomega.Equal(cloud.InstanceDeleting), one.Name)
	}
}

func (s *suite) watch() {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	events, err := s.cloud.Watch(ctx)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Eventually(events, s.Patience).Should(gomega.Receive(gomega.Equal(cloud.Event{Kind: cloud.EventSynced})), "the first event")
	made := s.order("one")
	s.awaitEvent(events, cloud.Event{Kind: cloud.EventInstance, Name: "one", ID: made.ID, Tags: made.Tags})
	s.createPool(s.pool(1, "r1"))
	s.awaitEvent(events, cloud.Event{Kind: cloud.EventPool, Name: poolName, Tags: cloud.Tags{tag: "pools"}})
	_, err = s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.awaitEvent(events, cloud.Event{Kind: cloud.EventLoadBalancer, Name: "balancer", Tags: cloud.Tags{tag: "balancers"}})
	stop()
	s.Eventually(func() bool {
		_, open := <-events
		return open
	}, s.Patience).Should(gomega.BeFalse(), "the channel is closed with the context")
}

// awaitEvent reads events until it receives the wanted one.
func (s *suite) awaitEvent(events <-chan cloud.Event, want cloud.Event) {
	s.t.Helper()
	s.Eventually(events, s.Patience).Should(gomega.Receive(gomega.Equal(want)))
}

// readsAfterEvents checks that a caller who reads an object only when an event says so sees each
// change and each deletion.
func (s *suite) readsAfterEvents() {
	ctx := s.t.Context()
	events := s.watches()
	s.order("one")
	s.readsUntil(events, cloud.EventInstance, func(event cloud.Event) bool {
		now, err := s.cloud.GetInstance(ctx, event.ID)
		s.Expect(err).NotTo(gomega.HaveOccurred(), "what an event announces can be read")
		return event.Name == "one" && now.State == cloud.InstanceRunning
	})
	s.createPool(s.pool(1, "r1"))
	s.readsUntil(events, cloud.EventPool, func(cloud.Event) bool { return s.getPool().Instances == 1 })
	s.growPool()
	s.readsUntil(events, cloud.EventPool, func(cloud.Event) bool { return s.getPool().Instances == 2 })
	_, err := s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.readsUntil(events, cloud.EventLoadBalancer, func(cloud.Event) bool {
		now, err := s.cloud.GetLoadBalancer(ctx, "balancer")
		s.Expect(err).NotTo(gomega.HaveOccurred())
		return now.Ready && now.Address != ""
	})
}

func (s *suite) deletionEvents() {
	ctx := s.t.Context()
	made := s.order("one")
	s.createPool(s.pool(1, "r1"))
	member := s.eventuallyMembers(1)[0]
	_, err := s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	events := s.watches()
	s.Expect(s.cloud.DeleteInstance(ctx, made.ID)).To(gomega.Succeed())
	s.readsUntil(events, cloud.EventInstance, func(event cloud.Event) bool {
		if event.ID != made.ID {
			return false
		}
		s.Expect(event.Tags).To(gomega.Equal(made.Tags), "the tags tell whose instance is gone")
		_, err := s.cloud.GetInstance(ctx, made.ID)
		return cloud.IsNotFound(err)
	})
	s.Expect(s.cloud.DeletePool(ctx, poolName)).To(gomega.Succeed())
	s.readsUntil(events, cloud.EventPool, func(event cloud.Event) bool {
		_, err := s.cloud.GetPool(ctx, poolName)
		s.Expect(event).To(gomega.Equal(cloud.Event{Kind: cloud.EventPool, Name: poolName, Tags: cloud.Tags{tag: "pools"}}))
		return cloud.IsNotFound(err)
	})
	_, err = s.cloud.GetInstance(ctx, member.ID)
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"), "a pool goes after its instances")
	s.Expect(s.cloud.DeleteLoadBalancer(ctx, "balancer")).To(gomega.Succeed())
	s.readsUntil(events, cloud.EventLoadBalancer, func(event cloud.Event) bool {
		_, err := s.cloud.GetLoadBalancer(ctx, "balancer")
		s.Expect(event).To(gomega.Equal(cloud.Event{Kind: cloud.EventLoadBalancer, Name: "balancer", Tags: cloud.Tags{tag: "balancers"}}))
		return cloud.IsNotFound(err)
	})
}

// deletesOnEvents deletes a pool again at each of its events, as controllers do. The deletion ends,
// and the calls cause no events that cause more calls.
func (s *suite) deletesOnEvents() {
	s.createPool(s.pool(1, "r1"))
	s.eventuallyRuns(s.eventuallyMembers(1)[0].ID)
	events, calls := s.watches(), 0
	s.Expect(s.cloud.DeletePool(s.t.Context(), poolName)).To(gomega.Succeed())
	s.readsUntil(events, cloud.EventPool, func(cloud.Event) bool {
		calls++
		return cloud.IsNotFound(s.cloud.DeletePool(s.t.Context(), poolName))
	})
	s.Expect(calls).To(gomega.BeNumerically("<=", 10), "a few events tell of the deletion")
}

// watches returns the events from now on.
func (s *suite) watches() <-chan cloud.Event {
	s.t.Helper()
	events, err := s.cloud.Watch(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Eventually(events, s.Patience).Should(gomega.Receive(gomega.Equal(cloud.Event{Kind: cloud.EventSynced})))
	return events
}

// readsUntil calls read right after each event of the kind, and only then, until it returns true.
// So it fails if an event is missing, or comes before the change that it is about.
func (s *suite) readsUntil(events <-chan cloud.Event, kind cloud.EventKind, read func(cloud.Event) bool) {
	s.t.Helper()
	deadline := time.After(s.Patience)
	for {
		select {
		case event, open := <-events:
			s.Expect(open).To(gomega.BeTrue(), "the watch goes on")
			if event.Kind == kind && read(event) {
				return
			}
		case <-deadline:
			s.t.Fatalf("no event of kind %s came after the change within %s", kind, s.Patience)
		}
	}
}
