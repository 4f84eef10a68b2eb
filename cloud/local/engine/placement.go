// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// stockoutRetry is how long a pool waits after it was refused an instance by a stockout rule that
// will let later instances through. No event announces when the next draw succeeds.
const stockoutRetry = 2 * time.Second

// imagesRetry is how long a pool waits for an image that is not on offer, or for images that cannot be
// read. No event announces that someone changes the folder of the images.
const imagesRetry = 10 * time.Second

// drawFaults draws the faults that will strike a newly ordered instance.
func (e *Engine) drawFaults(c *change, record *store.Instance) error {
	rules, err := c.Faults("")
	if err != nil {
		return err
	}
	for i := range rules {
		rule := &rules[i]
		instance := rule.Kind.Boots() || rule.Kind.Running()
		if !instance || rule.UsedUp() || !concerns(rule, record) {
			continue
		}
		if draws(rule) {
			record.Strikes = append(record.Strikes, rule.Strike())
		}
		if err := c.PutFault(rule); err != nil {
			return err
		}
	}
	return nil
}

// chooseZone returns the best zone in which an instance can be created now, or the reason why there
// is none.
func (e *Engine) chooseZone(c *change, target fault.Target, zones []string, spread rules.Spread) (string, error) {
	if err := e.refusal(c, target); err != nil {
		return "", err
	}
	var refused error
	for len(zones) > 0 {
		target.Zone = spread.Emptiest(zones)
		err := e.refusal(c, target)
		if err == nil {
			return target.Zone, nil
		}
		if cloud.ReasonFor(err) == cloud.ReasonUnknown {
			return "", err
		}
		refused = cmp.Or(refused, err)
		zones = slices.DeleteFunc(slices.Clone(zones), func(zone string) bool { return zone == target.Zone })
	}
	return "", refused
}

// refusal returns the reason why no instance can be created in the target's zone or, if it has
// none, in any zone.
func (e *Engine) refusal(c *change, target fault.Target) error {
	rules, err := c.Faults("")
	if err != nil {
		return err
	}
	for i := range rules {
		rule := &rules[i]
		if !rule.Matches(target) || (rule.Zone == "") != (target.Zone == "") {
			continue
		}
		switch rule.Kind {
		case fault.ZoneOutage:
			return &cloud.UnavailableError{Message: "zone " + rule.Zone + " is out (" + rule.Strike().Cause() + ")"}
		case fault.Stockout:
			if err := e.stockout(c, rule, target.Zone); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

func (e *Engine) stockout(c *change, rule *fault.Rule, zone string) error {
	if rule.UsedUp() {
		return nil
	}
	strikes := rule.Draw()
	if err := c.PutFault(rule); err != nil {
		return err
	}
	if !strikes {
		return nil
	}
	if rule.Ends() {
		c.retry = stockoutRetry
	}
	return &cloud.CapacityError{Zone: zone, Message: rule.Strike().Cause()}
}

// fillLater fills a pool again after a while, with at most one pending retry per pool.
func (e *Engine) fillLater(key poolKey, delay time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil || e.ctx.Err() != nil || e.retrying[key] {
		return
	}
	e.retrying[key] = true
	e.actorsEnd.Add(1)
	ctx := e.ctx
	go func() {
		defer e.actorsEnd.Done()
		rest(ctx, nil, delay)
		e.mu.Lock()
		delete(e.retrying, key)
		e.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		err := e.update(func(c *change) error {
			pool, err := c.Pool(key.tenant, key.name)
			if err != nil || pool == nil || pool.Problem == nil {
				return err
			}
			return e.fill(c, pool)
		})
		if err != nil {
			e.log(key.tenant, "Pool", key.name).Error(err, "Filling the pool again failed")
		}
	}()
}
