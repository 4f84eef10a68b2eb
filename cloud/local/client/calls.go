// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// Tenant returns the tenant that the token belongs to, and what the token permits.
func (c *Client) Tenant(ctx context.Context) (api.Tenant, error) {
	return call[api.Tenant](ctx, c, http.MethodGet, api.PathTenant, nil)
}

// Check asks the cloud whether it accepts the token.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Quota(ctx)
	return err
}

// Zones implements cloud.Catalog.
func (c *Client) Zones(ctx context.Context) ([]cloud.Zone, error) {
	return list[cloud.Zone](ctx, c, api.PathZones)
}

// InstanceTypes implements cloud.Catalog.
func (c *Client) InstanceTypes(ctx context.Context) ([]cloud.InstanceType, error) {
	return list[cloud.InstanceType](ctx, c, api.PathInstanceTypes)
}

// Images implements cloud.Catalog.
func (c *Client) Images(ctx context.Context) ([]cloud.Image, error) {
	return list[cloud.Image](ctx, c, api.PathImages)
}

// Quota implements cloud.Catalog.
func (c *Client) Quota(ctx context.Context) (cloud.Quota, error) {
	return call[cloud.Quota](ctx, c, http.MethodGet, api.PathQuota, nil)
}

// EnsureLoadBalancer implements cloud.LoadBalancers.
func (c *Client) EnsureLoadBalancer(ctx context.Context, spec cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	return call[cloud.LoadBalancer](ctx, c, http.MethodPut, named(api.PathLoadBalancers, spec.Name), spec)
}

// GetLoadBalancer implements cloud.LoadBalancers.
func (c *Client) GetLoadBalancer(ctx context.Context, name string) (cloud.LoadBalancer, error) {
	return call[cloud.LoadBalancer](ctx, c, http.MethodGet, named(api.PathLoadBalancers, name), nil)
}

// ListLoadBalancers implements cloud.LoadBalancers.
func (c *Client) ListLoadBalancers(ctx context.Context, tags cloud.Tags) ([]cloud.LoadBalancer, error) {
	return list[cloud.LoadBalancer](ctx, c, query(api.PathLoadBalancers, tags, nil))
}

// DeleteLoadBalancer implements cloud.LoadBalancers.
func (c *Client) DeleteLoadBalancer(ctx context.Context, name string) error {
	return c.order(ctx, http.MethodDelete, named(api.PathLoadBalancers, name))
}

// EnsureInstance implements cloud.Instances.
func (c *Client) EnsureInstance(ctx context.Context, spec cloud.InstanceSpec) (cloud.Instance, error) {
	return call[cloud.Instance](ctx, c, http.MethodPost, api.PathInstances, spec)
}

// GetInstance implements cloud.Instances.
func (c *Client) GetInstance(ctx context.Context, id string) (cloud.Instance, error) {
	return call[cloud.Instance](ctx, c, http.MethodGet, named(api.PathInstances, id), nil)
}

// ListInstances implements cloud.Instances.
func (c *Client) ListInstances(ctx context.Context, filter cloud.InstanceFilter) ([]cloud.Instance, error) {
	fields := map[string]string{api.ParameterName: filter.Name, api.ParameterPool: filter.Pool}
	return list[cloud.Instance](ctx, c, query(api.PathInstances, filter.Tags, fields))
}

// DrainInstance implements cloud.Instances.
func (c *Client) DrainInstance(ctx context.Context, id string) error {
	return c.order(ctx, http.MethodPost, named(api.PathInstances, id)+api.SuffixDrain)
}

// SwitchInstance operates an instance's power switch: stop, start, reboot, freeze or thaw. The
// action continues after the call.
func (c *Client) SwitchInstance(ctx context.Context, id, action string) error {
	return c.order(ctx, http.MethodPost, named(named(api.PathInstances, id)+api.SuffixPower, action))
}

// DeleteInstance implements cloud.Instances.
func (c *Client) DeleteInstance(ctx context.Context, id string) error {
	return c.order(ctx, http.MethodDelete, named(api.PathInstances, id))
}

// EnsurePool implements cloud.Pools.
func (c *Client) EnsurePool(ctx context.Context, spec cloud.PoolSpec, version string) (cloud.Pool, error) {
	path := query(named(api.PathPools, spec.Name), nil, map[string]string{api.ParameterVersion: version})
	return call[cloud.Pool](ctx, c, http.MethodPut, path, spec)
}

// ScalePool implements cloud.Pools.
func (c *Client) ScalePool(ctx context.Context, name string, size int32, version string) (cloud.Pool, error) {
	path := query(named(api.PathPools, name)+api.SuffixSize, nil, map[string]string{api.ParameterVersion: version})
	return call[cloud.Pool](ctx, c, http.MethodPut, path, api.PoolSize{Size: size})
}

// GetPool implements cloud.Pools.
func (c *Client) GetPool(ctx context.Context, name string) (cloud.Pool, error) {
	return call[cloud.Pool](ctx, c, http.MethodGet, named(api.PathPools, name), nil)
}

// ListPools implements cloud.Pools.
func (c *Client) ListPools(ctx context.Context, tags cloud.Tags) ([]cloud.Pool, error) {
	return list[cloud.Pool](ctx, c, query(api.PathPools, tags, nil))
}

// DeletePool implements cloud.Pools.
func (c *Client) DeletePool(ctx context.Context, name string) error {
	return c.order(ctx, http.MethodDelete, named(api.PathPools, name))
}

// LogOptions selects a log of an instance.
type LogOptions struct {
	// Source is "console" (the default) or "kubelet".
	Source string
	// Follow waits for more output until the context ends.
	Follow bool
	// Tail is the number of lines at the end of the log to start with; all lines if nil.
	Tail *int
	// Since leaves out what is older, by the times that lines begin with; nothing if zero.
	Since time.Time
}

// Log opens a log of an instance. The caller closes it.
func (c *Client) Log(ctx context.Context, id string, options LogOptions) (io.ReadCloser, error) {
	fields := map[string]string{api.ParameterSource: options.Source, api.ParameterFollow: strconv.FormatBool(options.Follow)}
	if options.Tail != nil {
		fields[api.ParameterTail] = strconv.Itoa(*options.Tail)
	}
	if !options.Since.IsZero() {
		fields[api.ParameterSince] = options.Since.UTC().Format(time.RFC3339Nano)
	}
	return c.stream(ctx, query(named(api.PathInstances, id)+api.SuffixLog, nil, fields))
}

// EnsureFault adds a fault rule, or replaces the rule of the same name.
func (c *Client) EnsureFault(ctx context.Context, spec fault.Spec) (fault.Rule, error) {
	return call[fault.Rule](ctx, c, http.MethodPut, named(api.PathFaults, spec.Name), spec)
}

// GetFault returns a fault rule of a tenant; of the caller if tenant is empty.
func (c *Client) GetFault(ctx context.Context, tenant, name string) (fault.Rule, error) {
	return call[fault.Rule](ctx, c, http.MethodGet, faultPath(tenant, name), nil)
}

// ListFaults returns the fault rules that the caller may see.
func (c *Client) ListFaults(ctx context.Context) ([]fault.Rule, error) {
	return list[fault.Rule](ctx, c, api.PathFaults)
}

// RemoveFault removes a fault rule of a tenant; of the caller if tenant is empty.
func (c *Client) RemoveFault(ctx context.Context, tenant, name string) error {
	return c.order(ctx, http.MethodDelete, faultPath(tenant, name))
}

func faultPath(tenant, name string) string {
	return query(named(api.PathFaults, name), nil, map[string]string{api.ParameterTenant: tenant})
}

// ListContainerImages returns the container images that were loaded into the cloud's registry.
func (c *Client) ListContainerImages(ctx context.Context) ([]api.ContainerImage, error) {
	return list[api.ContainerImage](ctx, c, api.PathContainerImages)
}

// LoadContainerImages loads the images of an archive and returns them. The name is for an image
// that has none in the archive. The archive is sent only once and may take as long as ctx lasts.
func (c *Client) LoadContainerImages(ctx context.Context, archive io.Reader, name string) ([]api.ContainerImage, error) {
	if err := c.pace.admit(time.Now()); err != nil {
		return nil, err
	}
	path := query(api.PathContainerImages, nil, map[string]string{api.ParameterName: name})
	// With Expect, the archive is not sent if the cloud refuses the request before reading it.
	headers := map[string]string{"Content-Type": api.Tar, "Expect": "100-continue"}
	response, err := c.sendContent(ctx, http.MethodPost, path, io.NopCloser(archive), headers)
	c.pace.note(err, time.Now())
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var loaded api.ContainerImages
	if err := json.NewDecoder(response.Body).Decode(&loaded); err != nil {
		return nil, c.transportError(ctx, fmt.Errorf("read the answer: %w", err))
	}
	return loaded.Items, nil
}

// DeleteContainerImage deletes a container image from the cloud's registry.
func (c *Client) DeleteContainerImage(ctx context.Context, name string) error {
	return c.order(ctx, http.MethodDelete, query(api.PathContainerImages, nil, map[string]string{api.ParameterName: name}))
}
