// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// poolKey is the key of a pool's record in its Secret.
const poolKey = "pool"

// poolRecord is what a Secret says about a pool, besides the user data.
type poolRecord struct {
	// PoolSpec has the template and the size, without user data.
	cloud.PoolSpec

	// Changes counts the changes of the template and the size. It begins with the time, so that no
	// later pool of the same name has the same version.
	Changes int64 `json:"changes"`
	// Members are the instances that the pool has, or is about to create.
	Members []member `json:"members,omitempty"`
	// Problem is why the pool could not create an instance.
	Problem *cloud.Problem `json:"problem,omitempty"`
	// Renew is true until the instances that have not started have the user data of the pool.
	Renew bool `json:"renew,omitempty"`
	// Deleting is true once the pool is to be deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// member is an instance of a pool. The order counts: a Pod is created only for a member that is in
// the Secret already.
type member struct {
	// Suffix of the instance's name and host name.
	Suffix string `json:"suffix"`
	// Zone of the instance.
	Zone string `json:"zone"`
	// Created is true once the instance has existed. If it is missing later, it was lost.
	Created bool `json:"created,omitempty"`
}

// pool is a Secret and what is in it.
type pool struct {
	poolRecord

	secret *corev1.Secret
}

func (p *pool) userData() []byte { return p.secret.Data[userDataKey] }

// sameAs reports whether the pool has the tags and the template of a spec.
func (p *pool) sameAs(spec cloud.PoolSpec) bool {
	return p.SameTemplate(spec) && p.Tags.Equal(spec.Tags) && string(p.userData()) == string(spec.Template.UserData)
}

func (p *pool) version() string { return strconv.FormatInt(p.Changes, 10) }

// view returns the pool as callers see it, with the Pods that it has.
func (p *pool) view(pods []corev1.Pod) cloud.Pool {
	seen := cloud.Pool{PoolSpec: p.PoolSpec, Version: p.version(), Problem: p.Problem, Deleting: p.Deleting}
	seen.Template.UserData = nil
	zones := p.zonesOfPods()
	for i := range pods {
		zone, member := zones[pods[i].Name]
		if !member || isDeleting(&pods[i]) {
			continue
		}
		// Members in the record can be more, if they are not created yet.
		seen.Instances++
		if seen.Problem == nil && pods[i].Status.Phase == corev1.PodPending {
			seen.Problem = problemOf(&pods[i], zone)
		}
	}
	return seen
}

// instanceName returns the name of the instance that is a member.
func (p *pool) instanceName(m member) string { return p.Name + "-" + m.Suffix }

// zonesOfPods returns the zone of each member by the name of its Pod.
func (p *pool) zonesOfPods() map[string]string {
	zones := map[string]string{}
	for _, one := range p.Members {
		zones[objectName(p.instanceName(one))] = one.Zone
	}
	return zones
}

// changed counts a change of the template or the size.
func (p *pool) changed() { p.Changes++ }

// readPool returns a pool, or nil if there is none.
func (c *Cloud) readPool(ctx context.Context, name string) (*pool, error) {
	secret, err := c.secrets().Get(ctx, poolObject(name), metav1.GetOptions{})
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.translate(err)
	}
	return poolOf(secret)
}

func poolOf(secret *corev1.Secret) (*pool, error) {
	p := &pool{secret: secret}
	if err := json.Unmarshal(secret.Data[poolKey], &p.poolRecord); err != nil {
		return nil, &cloud.UnavailableError{Message: fmt.Sprintf("Secret %s/%s, key %s: %v", secret.Namespace, secret.Name, poolKey, err)}
	}
	return p, nil
}

// writePool stores a pool. It fails with a conflict of the API server if the Secret has changed since
// it was read.
func (c *Cloud) writePool(ctx context.Context, p *pool) error {
	record := p.poolRecord
	record.Template.UserData = nil
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode a pool: %w", err)
	}
	secret := p.secret.DeepCopy()
	secret.Data[poolKey] = text
	setLabels(secret, kindPool, p.Name, p.Tags)
	if secret.ResourceVersion == "" {
		secret, err = c.secrets().Create(ctx, secret, metav1.CreateOptions{})
	} else {
		secret, err = c.secrets().Update(ctx, secret, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	p.secret = secret
	return nil
}

// changePool reads a pool, changes it and stores it if change returns true. It starts again if
// someone else was faster. The pool is nil if there is none.
func (c *Cloud) changePool(ctx context.Context, name string, change func(*pool) (*pool, bool, error)) (*pool, error) {
	var result *pool
	err := retry.OnError(retry.DefaultBackoff, lostRace, func() error {
		found, err := c.readPool(ctx, name)
		if err != nil {
			return err
		}
		changed, write, err := change(found)
		if err != nil || !write {
			result = changed
			return err
		}
		result = changed
		return c.writePool(ctx, changed)
	})
	return result, c.translate(err)
}

// lostRace reports whether somebody else changed, created or deleted an object first.
func lostRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || isGone(err)
}

// EnsurePool implements cloud.Pools.
func (c *Cloud) EnsurePool(ctx context.Context, spec cloud.PoolSpec, version string) (cloud.Pool, error) {
	offered, err := c.catalog(ctx)
	if err != nil {
		return cloud.Pool{}, err
	}
	result, err := c.changePool(ctx, spec.Name, func(p *pool) (*pool, bool, error) {
		var before cloud.PoolSpec
		if p != nil {
			before = p.PoolSpec
		}
		if err := cmp.Or(offered.Pool(spec, before), checkUserData("template.userData", spec.Template.UserData)); err != nil {
			return nil, false, err
		}
		switch {
		case p == nil && version != "":
			return nil, false, &cloud.NotFoundError{Kind: cloud.KindPool, Name: spec.Name}
		case p == nil:
			p, err := c.newPool(ctx, spec)
			return p, true, err
		case p.Deleting || p.sameAs(spec):
			return p, false, nil
		case p.version() != version:
			return nil, false, &cloud.ConflictError{Kind: cloud.KindPool, Name: spec.Name}
		}
		size := p.Size
		p.PoolSpec, p.Size = spec, size
		p.secret.Data[userDataKey], p.Renew = spec.Template.UserData, true
		p.changed()
		return p, true, nil
	})
	if err != nil {
		return cloud.Pool{}, err
	}
	return c.viewPool(ctx, result)
}

// viewPool returns a pool as callers see it.
func (c *Cloud) viewPool(ctx context.Context, p *pool) (cloud.Pool, error) {
	pods, err := c.podsOf(ctx, p)
	if err != nil {
		return cloud.Pool{}, err
	}
	return p.view(pods), nil
}

// newPool returns a pool that is not stored yet. Instances whose pool was lost with its Secret become
// its members.
func (c *Cloud) newPool(ctx context.Context, spec cloud.PoolSpec) (*pool, error) {
	p := &pool{poolRecord: poolRecord{PoolSpec: spec, Changes: time.Now().UnixNano()}, secret: &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: poolObject(spec.Name), Labels: objectLabels(kindPool, spec.Name, spec.Tags)},
		Data:       map[string][]byte{userDataKey: spec.Template.UserData},
	}}
	left, err := c.ListInstances(ctx, cloud.InstanceFilter{Pool: spec.Name})
	for _, one := range left {
		if suffix, ok := strings.CutPrefix(one.Name, spec.Name+"-"); ok && one.State != cloud.InstanceDeleting {
			p.Members = append(p.Members, member{Suffix: suffix, Zone: one.Zone, Created: true})
		}
	}
	return p, err
}

// ScalePool implements cloud.Pools.
func (c *Cloud) ScalePool(ctx context.Context, name string, size int32, version string) (cloud.Pool, error) {
	result, err := c.changePool(ctx, name, func(p *pool) (*pool, bool, error) {
		switch {
		case p == nil:
			return nil, false, c.missing(ctx, cloud.KindPool, name)
		case p.Deleting || p.Size == size:
			return p, false, nil
		case p.version() != version:
			return nil, false, &cloud.ConflictError{Kind: cloud.KindPool, Name: name}
		}
		if err := cmp.Or(rules.Size(size), c.checkSize(ctx, p, size)); err != nil {
			return nil, false, err
		}
		p.Size = size
		p.changed()
		return p, true, nil
	})
	if err != nil {
		return cloud.Pool{}, err
	}
	return c.viewPool(ctx, result)
}

// checkSize returns an InvalidError if a pool has more instances than its new size.
func (c *Cloud) checkSize(ctx context.Context, p *pool, size int32) error {
	now, err := c.viewPool(ctx, p)
	return cmp.Or(err, rules.Shrink(size, now.Instances))
}

// leavePool removes an instance from its pool, whose size shrinks by one.
func (c *Cloud) leavePool(ctx context.Context, leaving cloud.Instance) error {
	_, err := c.changePool(ctx, leaving.Pool, func(p *pool) (*pool, bool, error) {
		if p == nil {
			return nil, false, nil
		}
		for i, one := range p.Members {
			if p.instanceName(one) == leaving.Name {
				p.Members = append(p.Members[:i:i], p.Members[i+1:]...)
				p.Size = max(0, p.Size-1)
				p.changed()
				return p, true, nil
			}
		}
		return p, false, nil
	})
	return err
}

// GetPool implements cloud.Pools.
func (c *Cloud) GetPool(ctx context.Context, name string) (cloud.Pool, error) {
	found, err := c.readPool(ctx, name)
	if err == nil && found == nil {
		err = c.missing(ctx, cloud.KindPool, name)
	}
	if err != nil {
		return cloud.Pool{}, err
	}
	return c.viewPool(ctx, found)
}

// ListPools implements cloud.Pools.
func (c *Cloud) ListPools(ctx context.Context, tags cloud.Tags) ([]cloud.Pool, error) {
	secrets, err := c.secrets().List(ctx, metav1.ListOptions{LabelSelector: selector(kindPool, tags, nil)})
	if err != nil {
		return nil, c.translate(err)
	}
	pods, err := c.listPods(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	var found []cloud.Pool
	for i := range secrets.Items {
		p, err := poolOf(&secrets.Items[i])
		if err != nil {
			return nil, err
		}
		if p.Tags.Contains(tags) {
			found = append(found, p.view(pods))
		}
	}
	return sortedBy(found, func(p cloud.Pool) string { return p.Name }), nil
}

// DeletePool implements cloud.Pools. The Secret goes after the last Pod, so that a call that was
// interrupted can be repeated. If the Secret was lost, the Pods are still deleted.
func (c *Cloud) DeletePool(ctx context.Context, name string) error {
	p, err := c.changePool(ctx, name, func(p *pool) (*pool, bool, error) {
		if p == nil {
			return &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: name}}}, false, nil
		}
		write := !p.Deleting
		p.Deleting, p.Size, p.Members = true, 0, nil
		return p, write, nil
	})
	if err != nil {
		return err
	}
	return c.emptyPool(ctx, p)
}

// emptyPool deletes the instances of a pool that is being deleted, and then the pool. A pool that was
// lost has no Secret.
func (c *Cloud) emptyPool(ctx context.Context, p *pool) error {
	pods, err := c.podsOf(ctx, p)
	if err != nil {
		return err
	}
	for i := range pods {
		if isDeleting(&pods[i]) {
			continue
		}
		if err := c.deletePod(ctx, &pods[i]); err != nil {
			return err
		}
	}
	switch {
	case len(pods) > 0:
		return nil
	case p.secret == nil:
		return c.missing(ctx, cloud.KindPool, p.Name)
	}
	err = c.secrets().Delete(ctx, p.secret.Name, *metav1.NewPreconditionDeleteOptions(string(p.secret.UID)))
	if isGone(err) {
		return nil
	}
	return c.translate(err)
}

// podsOf returns the Pods of a pool, whether they are its members or not.
func (c *Cloud) podsOf(ctx context.Context, p *pool) ([]corev1.Pod, error) {
	return c.listPods(ctx, nil, map[string]string{poolLabel: hash(p.Name)})
}
