// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

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

// growPool raises the size of the pool by one.
func (s *suite) growPool() {
	s.t.Helper()
	now := s.getPool()
	scaled, err := s.cloud.ScalePool(s.t.Context(), poolName, now.Size+1, now.Version)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(scaled.Size).To(gomega.Equal(now.Size + 1))
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
	}, s.Patience).Should(gomega.HaveLen(count))
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
	s.growPool()
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

func (s *suite) poolSpreads() {
	all, err := s.cloud.Zones(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	spec := s.pool(3, "r1")
	for _, zone := range all[:min(len(all), 2)] {
		spec.Zones = slices.Insert(spec.Zones, 0, zone.Name)
	}
	s.createPool(spec)
	count := map[string]int{}
	for _, member := range s.eventuallyMembers(3) {
		count[member.Zone]++
	}
	s.Expect(count).To(gomega.HaveLen(len(spec.Zones)), "in all of its zones and in no other")
	s.Expect(count[all[0].Name]).To(gomega.Equal((3+len(spec.Zones)-1)/len(spec.Zones)), "evenly, and the name that sorts first gets one more")
}

func (s *suite) poolRefills() {
	if s.Lose == nil {
		s.t.Skip("no instance can be lost on purpose")
	}
	ctx := s.t.Context()
	made := s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	s.eventuallyRuns(members[0].ID)
	s.eventuallyRuns(members[1].ID)
	changed, err := s.cloud.EnsurePool(ctx, s.pool(2, "r2"), made.Version)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	events := s.watches()
	s.Lose(s.t, s.cloud, members[0])
	var lost cloud.Instance
	s.readsUntil(events, cloud.EventInstance, func(event cloud.Event) bool {
		i := slices.IndexFunc(members, func(one cloud.Instance) bool { return one.ID == event.ID })
		_, err := s.cloud.GetInstance(ctx, event.ID)
		if i < 0 || !cloud.IsNotFound(err) {
			return false
		}
		lost = members[i]
		return true
	})
	isOld := gomega.HaveField("ID", gomega.BeElementOf(members[0].ID, members[1].ID))
	s.Eventually(func() ([]cloud.Instance, error) {
		return s.cloud.ListInstances(ctx, cloud.InstanceFilter{Pool: poolName})
	}, s.Patience).Should(gomega.ConsistOf(isOld, gomega.And(
		gomega.Not(isOld), gomega.HaveField("Zone", lost.Zone), gomega.HaveField("Revision", "r2"),
	)), "from the current template, in the zone that has the fewest now")
	now := s.getPool()
	s.Expect([]any{now.Size, now.Version}).To(gomega.Equal([]any{int32(2), changed.Version}), "nobody has asked for another size")
}

// loses creates a pool of two instances and loses it. It returns the instances.
func (s *suite) loses() []cloud.Instance {
	s.t.Helper()
	if s.LosePool == nil {
		s.t.Skip("no pool can be lost without its instances")
	}
	s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	s.LosePool(s.t, s.cloud, poolName)
	_, err := s.cloud.GetPool(s.t.Context(), poolName)
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.eventuallyMembers(2)).To(gomega.HaveExactElements(gomega.HaveField("ID", members[0].ID), gomega.HaveField("ID", members[1].ID)), "they stay")
	return members
}

func (s *suite) poolIsLost() {
	members := s.loses()
	made := s.createPool(s.pool(2, "r1"))
	s.Expect(made.Instances).To(gomega.BeEquivalentTo(2))
	s.growPool()
	now := s.eventuallyMembers(3)
	for _, member := range members {
		s.Expect(now).To(gomega.ContainElement(gomega.HaveField("ID", member.ID)))
	}
	s.Expect(s.cloud.DeleteInstance(s.t.Context(), members[0].ID)).To(gomega.Succeed())
	s.Expect(s.getPool().Size).To(gomega.BeEquivalentTo(2), "it was a member")
}

func (s *suite) lostPoolIsDeleted() {
	s.loses()
	s.Expect(s.cloud.DeletePool(s.t.Context(), poolName)).To(gomega.Succeed(), "instances are left")
	s.eventuallyGone(func() error { return s.cloud.DeletePool(s.t.Context(), poolName) })
	s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.BeEmpty())
}

func (s *suite) poolConflicts() {
	ctx := s.t.Context()
	seen := s.createPool(s.pool(1, "r1"))
	s.growPool()
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

func (s *suite) poolIsCreatedAgain() {
	ctx := s.t.Context()
	earlier := s.createPool(s.pool(1, "r1"))
	s.eventuallyGone(func() error { return s.cloud.DeletePool(ctx, poolName) })
	s.createPool(s.pool(1, "r1"))
	_, err := s.cloud.ScalePool(ctx, poolName, 2, earlier.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"), "the caller has seen another pool")
}

func (s *suite) scalingRacesDeletion() {
	ctx := s.t.Context()
	seen := s.createPool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	s.Expect(s.cloud.DeleteInstance(ctx, members[0].ID)).To(gomega.Succeed())
	_, err := s.cloud.ScalePool(ctx, poolName, 3, seen.Version)
	s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"), "the deletion has changed the size")
	s.Expect(s.getPool().Size).To(gomega.BeEquivalentTo(1))
	s.growPool()
	s.Expect(s.eventuallyMembers(2)).NotTo(gomega.ContainElement(gomega.HaveField("ID", members[0].ID)))
}

// templateRacesDeletion changes the template of a pool while one of its instances is deleted. Both
// must take effect, whichever comes first.
func (s *suite) templateRacesDeletion() {
	ctx := s.t.Context()
	s.createPool(s.pool(2, "r0"))
	for round := range 3 {
		members := s.eventuallyMembers(2)
		seen, revision := s.getPool(), fmt.Sprintf("r%d", round+1)
		deleted := make(chan error, 1)
		go func() { deleted <- s.cloud.DeleteInstance(ctx, members[0].ID) }()
		_, err := s.cloud.EnsurePool(ctx, s.pool(2, revision), seen.Version)
		s.Expect(<-deleted).NotTo(gomega.HaveOccurred())
		if err != nil {
			s.Expect(err).To(gomega.MatchError(cloud.IsConflict, "a ConflictError"), "the deletion came first")
			s.Expect(s.getPool().Revision).To(gomega.Equal(seen.Revision), "what is refused has no effect")
			_, err = s.cloud.EnsurePool(ctx, s.pool(2, revision), s.getPool().Version)
			s.Expect(err).NotTo(gomega.HaveOccurred())
		}
		now := s.getPool()
		s.Expect([]any{now.Size, now.Revision}).To(gomega.Equal([]any{int32(1), revision}))
		s.eventuallyGone(func() error { return s.cloud.DeleteInstance(ctx, members[0].ID) })
		s.Expect(s.eventuallyMembers(1)[0].ID).To(gomega.Equal(members[1].ID), "no other takes its place")
		s.growPool()
	}
}
