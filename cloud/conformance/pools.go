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

const poolName = "pool"

func (s *suite) pool(size int32, revision string) cloud.PoolSpec {
	spec := cloud.PoolSpec{
		Name: poolName, HostnamePrefix: poolName, Tags: cloud.Tags{tag: "pools"}, Size: size, Revision: revision, Template: s.template,
	}
	spec.Template.Tags = cloud.Tags{tag: "members"}
	return spec
}

// createPool creates a pool and checks that creating it again changes nothing.
func (s *suite) createPool(spec cloud.PoolSpec) cloud.Pool {
	s.t.Helper()
	made, err := s.cloud.EnsurePool(s.t.Context(), spec, "")
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(made.Size).To(gomega.Equal(spec.Size))
	s.Expect(made.Version).NotTo(gomega.BeEmpty())
	s.Expect(made.Template.UserData).To(gomega.BeEmpty(), "bootstrap data is never returned")
	again, err := s.cloud.EnsurePool(s.t.Context(), spec, "")
	s.Expect(err).NotTo(gomega.HaveOccurred(), "the answer to the first call may have been lost")
	s.Expect(again.Version).To(gomega.Equal(made.Version))
	return made
}

func (s *suite) getPool() cloud.Pool {
	s.t.Helper()
	now, err := s.cloud.GetPool(s.t.Context(), poolName)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return now
}

func (s *suite) scalePool(size int32) {
	s.t.Helper()
	scaled, err := s.cloud.ScalePool(s.t.Context(), poolName, size, s.getPool().Version)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(scaled.Size).To(gomega.Equal(size))
}

// eventuallyMembers waits until the pool has the given number of instances that are not being
// deleted.
func (s *suite) eventuallyMembers(count int) []cloud.Instance {
	s.t.Helper()
	var members []cloud.Instance
	s.Eventually(func() ([]cloud.Instance, error) {
		list, err := s.cloud.ListInstances(s.t.Context(), cloud.InstanceFilter{Pool: poolName})
		members = nil
		for _, one := range list {
			if one.State != cloud.InstanceDeleting {
				members = append(members, one)
			}
		}
		return members, err
	}, s.patience).Should(gomega.HaveLen(count))
	return members
}

func (s *suite) poolGrows() {
	made := s.createPool(s.pool(1, "r1"))
	first := s.eventuallyMembers(1)[0]
	s.Expect([]string{first.Pool, first.Revision}).To(gomega.Equal([]string{poolName, "r1"}))
	s.Expect(first.Tags).To(gomega.HaveKeyWithValue(tag, "members"))
	s.Expect(first.Name).To(gomega.MatchRegexp("^pool-.{5}$"))
	s.Expect(first.Hostname).To(gomega.Equal(first.Name), "prefix and name are the same here")

	changed, err := s.cloud.EnsurePool(s.t.Context(), s.pool(2, "r2"), made.Version)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect([]any{changed.Revision, changed.Size}).To(gomega.Equal([]any{"r2", int32(1)}), "another template is no other size")
	s.scalePool(2)
	members := s.eventuallyMembers(2)
	revisions := make([]string, 0, len(members))
	for _, member := range members {
		revisions = append(revisions, member.Revision)
	}
	s.Expect(revisions).To(gomega.ConsistOf("r1", "r2"), "a new template is used for new instances only")
	list, err := s.cloud.ListPools(s.t.Context(), cloud.Tags{tag: "pools"})
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(list).To(gomega.ConsistOf(gomega.HaveField("Name", poolName)))
	s.eventuallyGone(func() error { return s.cloud.DeletePool(s.t.Context(), poolName) })
	s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.BeEmpty(), "a pool goes with all its instances")
}

func (s *suite) poolShrinks() {
	ctx := s.t.Context()
	s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	_, err := s.cloud.ScalePool(ctx, poolName, 1, s.getPool().Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), "the caller says which instance goes")

	s.Expect(s.cloud.DeleteInstance(ctx, members[0].ID)).To(gomega.Succeed())
	s.Expect(s.getPool().Size).To(gomega.BeEquivalentTo(1))
	s.eventuallyGone(func() error { return s.cloud.DeleteInstance(ctx, members[0].ID) })
	s.Expect(s.eventuallyMembers(1)[0].ID).To(gomega.Equal(members[1].ID), "no other takes its place")
}

func (s *suite) watch() {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	events, err := s.cloud.Watch(ctx)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Eventually(events, s.patience).Should(gomega.Receive(gomega.Equal(cloud.Event{Kind: cloud.EventSynced})), "the first event")
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
	}, s.patience).Should(gomega.BeFalse(), "the channel is closed with the context")
}

func (s *suite) poolSpreads() {
	all, err := s.cloud.Zones(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	spec := s.pool(3, "r1")
	for _, zone := range all[:min(len(all), 2)] {
		spec.Zones = append(spec.Zones, zone.Name)
	}
	s.createPool(spec)
	count := map[string]int{}
	for _, member := range s.eventuallyMembers(3) {
		count[member.Zone]++
	}
	s.Expect(count).To(gomega.HaveLen(len(spec.Zones)), "in all of its zones and in no other")
	for _, zone := range spec.Zones {
		s.Expect(count[zone]).To(gomega.BeNumerically("<=", (3+len(spec.Zones)-1)/len(spec.Zones)), "evenly")
	}
}

func (s *suite) poolRefills() {
	if s.lose == nil {
		s.t.Skip("no instance can be lost on purpose")
	}
	made := s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	s.eventuallyRuns(members[0].ID)
	s.eventuallyRuns(members[1].ID)
	s.lose(s.t, s.cloud, members[0])
	isOld := gomega.HaveField("ID", gomega.BeElementOf(members[0].ID, members[1].ID))
	s.Eventually(func() ([]cloud.Instance, error) {
		return s.cloud.ListInstances(s.t.Context(), cloud.InstanceFilter{Pool: poolName})
	}, s.patience).Should(gomega.ConsistOf(isOld, gomega.Not(isOld)))
	now := s.getPool()
	s.Expect([]any{now.Size, now.Version}).To(gomega.Equal([]any{int32(2), made.Version}), "nobody has asked for another size")
}

func (s *suite) poolConflicts() {
	ctx := s.t.Context()
	seen := s.createPool(s.pool(1, "r1"))
	s.scalePool(2)
	_, err := s.cloud.ScalePool(ctx, poolName, 3, seen.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"))
	_, err = s.cloud.EnsurePool(ctx, s.pool(1, "r2"), seen.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"))
	_, err = s.cloud.EnsurePool(ctx, s.pool(1, "r2"), "")
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"), "the caller has seen no pool")
	now := s.getPool()
	s.Expect([]any{now.Size, now.Revision}).To(gomega.Equal([]any{int32(2), "r1"}))
	again, err := s.cloud.ScalePool(ctx, poolName, 2, seen.Version)
	s.Expect(err).NotTo(gomega.HaveOccurred(), "a change that is in effect may be repeated")
	s.Expect(again.Version).To(gomega.Equal(now.Version))
	_, err = s.cloud.ScalePool(ctx, "nobody", 2, now.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
}

func (s *suite) scalingRacesDeletion() {
	ctx := s.t.Context()
	seen := s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	s.Expect(s.cloud.DeleteInstance(ctx, members[0].ID)).To(gomega.Succeed())
	_, err := s.cloud.ScalePool(ctx, poolName, 3, seen.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"), "the deletion has changed the size")
	s.Expect(s.getPool().Size).To(gomega.BeEquivalentTo(1))
	s.scalePool(2)
	s.Expect(s.eventuallyMembers(2)).NotTo(gomega.ContainElement(gomega.HaveField("ID", members[0].ID)))
}

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
		deadline := time.Now().Add(s.patience)
		for err == nil && time.Now().Before(deadline) {
			err = s.cloud.DeleteInstance(ctx, made.ID)
		}
		if !cloud.IsNotFound(err) {
			return fmt.Errorf("delete an instance: %w", err)
		}
	}
	return nil
}

func (s *suite) watchDeletions() {
	ctx := s.t.Context()
	made := s.order("one")
	s.createPool(s.pool(1, "r1"))
	member := s.eventuallyMembers(1)[0]
	events, err := s.cloud.Watch(ctx)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Eventually(events, s.patience).Should(gomega.Receive(gomega.Equal(cloud.Event{Kind: cloud.EventSynced})))
	s.Expect(s.cloud.DeleteInstance(ctx, made.ID)).To(gomega.Succeed())
	s.awaitGone(events, cloud.EventInstance, made.Name, func() error { _, err := s.cloud.GetInstance(ctx, made.ID); return err })
	s.Expect(s.cloud.DeletePool(ctx, poolName)).To(gomega.Succeed())
	s.awaitGone(events, cloud.EventPool, poolName, func() error { _, err := s.cloud.GetPool(ctx, poolName); return err })
	_, err = s.cloud.GetInstance(ctx, member.ID)
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"), "a pool goes after its instances")
}

// awaitGone reads events about an object until the object is no longer found right after one of
// them: anyone waiting for the end of a deletion gets an event.
func (s *suite) awaitGone(events <-chan cloud.Event, kind cloud.EventKind, name string, get func() error) {
	s.t.Helper()
	s.Eventually(func() error {
		select {
		case event := <-events:
			if event.Kind == kind && event.Name == name {
				return get()
			}
		default:
		}
		return nil
	}, s.patience).Should(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
}

// awaitEvent reads events until it receives the wanted one.
func (s *suite) awaitEvent(events <-chan cloud.Event, want cloud.Event) {
	s.t.Helper()
	s.Eventually(events, s.patience).Should(gomega.Receive(gomega.Equal(want)))
}
