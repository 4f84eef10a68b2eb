// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Zones returns the zones of the options.
func (c *Cloud) Zones(ctx context.Context) ([]cloud.Zone, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallZones); err != nil {
		return nil, err
	}
	return slices.Clone(c.options.Zones), nil
}

// InstanceTypes returns the instance types of the options.
func (c *Cloud) InstanceTypes(ctx context.Context) ([]cloud.InstanceType, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallInstanceTypes); err != nil {
		return nil, err
	}
	return slices.Clone(c.options.InstanceTypes), nil
}

// Images returns the images of the options.
func (c *Cloud) Images(ctx context.Context) ([]cloud.Image, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallImages); err != nil {
		return nil, err
	}
	return slices.Clone(c.options.Images), nil
}

// Quota returns the limits and the current usage.
func (c *Cloud) Quota(ctx context.Context) (cloud.Quota, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallQuota); err != nil {
		return cloud.Quota{}, err
	}
	return c.quota(), nil
}
