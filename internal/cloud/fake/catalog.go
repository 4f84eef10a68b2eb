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

package fake

import (
	"context"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
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

// Quota returns the limits and what is in use.
func (c *Cloud) Quota(ctx context.Context) (cloud.Quota, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallQuota); err != nil {
		return cloud.Quota{}, err
	}
	return cloud.Quota{Limits: c.options.Limits, Used: c.used()}, nil
}
