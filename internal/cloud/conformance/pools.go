/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package conformance

import (
	"context"

	"github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

const poolName = "pool"

func (s *suite) pool(size int32, revision string) cloud.PoolSpec {
	spec := cloud.PoolSpec{
		Name: poolName, HostnamePrefix: poolName, Tags: cloud.Tags{tag: "pools"}, Size: size, Revision: revision, Template: s.template,
	}
	spec.Template.Tags = cloud.Tags{tag: "members"}
	return spec
}

func (s *suite) ensurePool(spec cloud.PoolSpec) {
	s.t.Helper()
	made, err := s.cloud.EnsurePool(s.t.Context(), spec)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(made.Size).To(gomega.Equal(spec.Size))
	s.Expect(made.Template.UserData).To(gomega.BeEmpty(), "bootstrap data is never returned")
}

// eventuallyMembers waits until a pool has a number of instances that are not on their way out.
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
	s.ensurePool(s.pool(1, "r1"))
	s.ensurePool(s.pool(1, "r1"))
	first := s.eventuallyMembers(1)[0]
	s.Expect([]string{first.Pool, first.Revision}).To(gomega.Equal([]string{poolName, "r1"}))
	s.Expect(first.Tags).To(gomega.HaveKeyWithValue(tag, "members"))
	s.Expect(first.Name).To(gomega.MatchRegexp("^pool-.{5}$"))
	s.Expect(first.Hostname).To(gomega.Equal(first.Name), "prefix and name are the same here")

	s.ensurePool(s.pool(2, "r2"))
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
	s.ensurePool(s.pool(2, "r1"))
	members := s.eventuallyMembers(2)
	_, err := s.cloud.EnsurePool(ctx, s.pool(1, "r1"))
	s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), "the caller says which instance goes")

	s.Expect(s.cloud.DeleteInstance(ctx, members[0].ID)).To(gomega.Succeed())
	now, err := s.cloud.GetPool(ctx, poolName)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(now.Size).To(gomega.BeEquivalentTo(1))
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
	s.ensurePool(s.pool(1, "r1"))
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

// awaitEvent reads events until the one that is wanted.
func (s *suite) awaitEvent(events <-chan cloud.Event, want cloud.Event) {
	s.t.Helper()
	s.Eventually(events, s.patience).Should(gomega.Receive(gomega.Equal(want)))
}
