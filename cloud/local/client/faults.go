// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

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
