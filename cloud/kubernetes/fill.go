// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/sets"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// createdAtOnce is how many Pods of one pool are created at the same time.
const createdAtOnce = 10

// fillPool creates what is missing in a pool, and removes what should not be there. It returns the
// problem that keeps the pool from being full.
func (c *Cloud) fillPool(ctx context.Context, name string) error {
	p, err := c.readPool(ctx, name)
	switch {
	case err != nil || p == nil:
		return err
	case p.Deleting:
		return c.emptyPool(ctx, p)
	}
	pods, err := c.podsOf(ctx, p)
	if err != nil {
		return err
	}
	if err := c.deleteStrangers(ctx, p, pods); err != nil {
		return err
	}
	if err := c.renewUserData(ctx, p, pods); err != nil {
		return err
	}
	changed := p.observe(pods)
	offered, err := c.catalogFor(ctx, p)
	if err != nil {
		return c.noteFailure(ctx, p, err)
	}
	if p.reserve(offered, pods) || changed {
		if err := c.writePool(ctx, p); err != nil {
			return c.translate(err)
		}
	}
	return c.createMembers(ctx, p, offered)
}

// renewUserData gives the user data of the pool to its instances that have not started, since a token in
// their own may expire while they wait for room. Instances of an earlier template keep theirs.
func (c *Cloud) renewUserData(ctx context.Context, p *pool, pods []corev1.Pod) error {
	if !p.Renew {
		return nil
	}
	change := map[string]any{"data": map[string]any{userDataKey: p.userData()}}
	for i := range pods {
		pod := &pods[i]
		record, err := instanceOf(pod)
		if err != nil || record.State != cloud.InstancePending || record.Revision != p.Revision {
			continue // one whose record is damaged is reported elsewhere
		}
		if err := c.merge(ctx, "secrets", pod.Name, change); err != nil {
			return err
		}
	}
	p.Renew = false
	return c.translate(c.writePool(ctx, p))
}

// catalogFor returns the catalog, or nil if the pool is full, as it is after most changes of its Pods.
func (c *Cloud) catalogFor(ctx context.Context, p *pool) (*catalog, error) {
	if p.full() {
		return nil, nil
	}
	return c.catalog(ctx)
}

// full reports whether the pool has its size, and all of its members were created.
func (p *pool) full() bool {
	return len(p.Members) >= int(p.Size) && !slices.ContainsFunc(p.Members, func(one member) bool { return !one.Created })
}

// observe compares the members with the Pods: who has one was created, and who has none any more was
// lost and is no member. Of members with the same Pod, which an earlier version could make, it keeps one. It
// reports whether anything changed.
func (p *pool) observe(pods []corev1.Pod) bool {
	alive := map[string]bool{}
	for i := range pods {
		alive[pods[i].Name] = !isDeleting(&pods[i])
	}
	before := slices.Clone(p.Members)
	kept, taken := make([]member, 0, len(p.Members)), sets.Set[string]{}
	for _, one := range p.Members {
		name := objectName(p.instanceName(one))
		lives, exists := alive[name]
		if lives {
			one.Created = true
		}
		if (lives || !exists && !one.Created) && !taken.Has(name) {
			kept = append(kept, one)
			taken.Insert(name)
		}
	}
	p.Members = kept
	return !slices.Equal(before, kept)
}

// reserve adds members until the pool has its size, if there is a zone for them. It gives up members
// that were not created if the pool has more, or if new instances go to other zones by now. It reports
// whether anything changed.
func (p *pool) reserve(offered *catalog, pods []corev1.Pod) bool {
	if p.full() {
		return false
	}
	zones, _ := offered.choices(p.Zones, p.Template.Type) // if there are none, createMembers says so
	before := len(p.Members)
	p.Members = slices.DeleteFunc(p.Members, func(one member) bool { return !one.Created && !slices.Contains(zones, one.Zone) })
	changed := len(p.Members) != before
	for i := len(p.Members) - 1; i >= 0 && len(p.Members) > int(p.Size); i-- {
		if !p.Members[i].Created {
			p.Members, changed = slices.Delete(p.Members, i, i+1), true
		}
	}
	states, spread, taken := map[string]cloud.InstanceState{}, rules.Spread{}, sets.Set[string]{}
	for i := range pods {
		states[pods[i].Name], _ = stateOf(&pods[i])
		taken.Insert(pods[i].Name)
	}
	for _, one := range p.Members {
		name := objectName(p.instanceName(one))
		spread.Add(&cloud.Instance{Zone: one.Zone, State: states[name]})
		taken.Insert(name)
	}
	for len(zones) > 0 && len(p.Members) < int(p.Size) {
		zone := spread.Emptiest(zones)
		spread[zone]++
		p.Members, changed = append(p.Members, member{Suffix: p.freeSuffix(taken), Zone: zone}), true
	}
	return changed
}

// freeSuffix returns a suffix whose Pod has none of the taken names, and takes its name: two members
// with the same suffix would share a Pod.
func (p *pool) freeSuffix(taken sets.Set[string]) string {
	for {
		suffix := rand.String(suffixLength)
		if name := objectName(p.instanceName(member{Suffix: suffix})); !taken.Has(name) {
			taken.Insert(name)
			return suffix
		}
	}
}

// createMembers creates the members that have not been created, and notes the result in the pool.
func (c *Cloud) createMembers(ctx context.Context, p *pool, offered *catalog) error {
	backendPort, created := int32(0), make([]bool, len(p.Members))
	if !p.full() {
		// The catalog may have changed since the pool was ordered.
		_, err := offered.OfferedZones(p.Zones)
		if err = cmp.Or(err, offered.Pool(p.PoolSpec, p.PoolSpec), offered.Image("template.", p.Template)); err != nil {
			return c.noteFailure(ctx, p, err)
		}
		if backendPort, err = c.expectBackend(ctx, p.Template.Tags); err != nil {
			return c.noteFailure(ctx, p, err)
		}
	}
	work, refused := errgroup.Group{}, atomic.Bool{}
	work.SetLimit(createdAtOnce)
	for i, one := range p.Members {
		if one.Created {
			continue
		}
		work.Go(func() error {
			if refused.Load() { // the others would be refused as well
				return nil
			}
			_, err := c.create(ctx, offered, order{p.newMember(one, offered), p.userData(), backendPort})
			created[i] = err == nil
			if err != nil {
				refused.Store(true)
			}
			return err
		})
	}
	failed := work.Wait()
	return cmp.Or(c.noteCreated(ctx, p, created, failed), failed)
}

// noteFailure records why no member could be created, and returns the reason.
func (c *Cloud) noteFailure(ctx context.Context, p *pool, failed error) error {
	return cmp.Or(c.noteCreated(ctx, p, make([]bool, len(p.Members)), failed), failed)
}

// noteCreated records which members were created, and the problem of the others, if there is one.
func (c *Cloud) noteCreated(ctx context.Context, p *pool, created []bool, failed error) error {
	problem := cloud.ProblemOf(failed)
	changed := !ptr.Equal(p.Problem, problem)
	p.Problem = problem
	for i := range p.Members {
		if created[i] {
			p.Members[i].Created, changed = true, true
		}
	}
	var err error
	switch {
	case changed:
		err = c.writePool(ctx, p)
	case failed != nil: // some may have been created although the call failed
		_, err = c.secrets().Get(ctx, p.secret.Name, metav1.GetOptions{})
	}
	if isGone(err) {
		return c.disown(ctx, p, created)
	}
	return c.translate(err)
}

// disown deletes the instances that were created for a pool while it was deleted, even if the call that
// created them failed. Nobody else would: the instances of a pool whose Secret is lost are kept for the
// pool that takes them over.
func (c *Cloud) disown(ctx context.Context, p *pool, created []bool) error {
	pods, err := c.podsOf(ctx, p)
	if err != nil {
		return err
	}
	ours := map[string]bool{}
	for i, one := range p.Members {
		ours[objectName(p.instanceName(one))] = created[i] || !one.Created
	}
	for i := range pods {
		if !ours[pods[i].Name] || isDeleting(&pods[i]) {
			continue
		}
		if err := c.deletePod(ctx, &pods[i]); err != nil {
			return err
		}
	}
	return nil
}

// newMember returns the record of the instance of a new member.
func (p *pool) newMember(m member, offered *catalog) cloud.Instance {
	record := newRecord(cloud.InstanceSpec{
		Name: p.instanceName(m), Hostname: p.HostnamePrefix + "-" + m.Suffix, Zone: m.Zone, InstanceTemplate: p.Template,
	}, offered)
	record.Pool, record.Revision = p.Name, p.Revision
	return record
}

// deleteStrangers deletes Pods of the pool that are no members. A manager that had not noticed yet
// that it was replaced can have created them.
func (c *Cloud) deleteStrangers(ctx context.Context, p *pool, pods []corev1.Pod) error {
	members := p.zonesOfPods()
	strangers := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		_, member := members[pod.Name]
		return member || isDeleting(&pod)
	})
	if len(strangers) == 0 {
		return nil
	}
	// A Pod of a member that was added after the pool was read is no stranger.
	now, err := c.readPool(ctx, p.Name)
	if err != nil {
		return err
	}
	if now == nil || now.secret.ResourceVersion != p.secret.ResourceVersion {
		return &cloud.ConflictError{Kind: cloud.KindPool, Name: p.Name}
	}
	for i := range strangers {
		if err := c.deletePod(ctx, &strangers[i]); err != nil {
			return err
		}
	}
	return nil
}
