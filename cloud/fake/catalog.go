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
	return answer(ctx, c, CallZones, func() ([]cloud.Zone, error) { return slices.Clone(c.options.Zones), nil })
}

// InstanceTypes returns the instance types of the options.
func (c *Cloud) InstanceTypes(ctx context.Context) ([]cloud.InstanceType, error) {
	return answer(ctx, c, CallInstanceTypes, func() ([]cloud.InstanceType, error) { return slices.Clone(c.options.InstanceTypes), nil })
}

// Images returns the images of the options.
func (c *Cloud) Images(ctx context.Context) ([]cloud.Image, error) {
	return answer(ctx, c, CallImages, func() ([]cloud.Image, error) { return slices.Clone(c.options.Images), nil })
}

// Quota returns the limits and the current usage.
func (c *Cloud) Quota(ctx context.Context) (cloud.Quota, error) {
	return answer(ctx, c, CallQuota, func() (cloud.Quota, error) { return c.quota(), nil })
}
