// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// Route is one call of the API.
type Route struct {
	// Method and Path, with the names of path parameters in braces, as in the OpenAPI document.
	Method, Path string

	handle func(b Backend, w http.ResponseWriter, r *http.Request) error
	images func(i Images, w http.ResponseWriter, r *http.Request) error
	public http.HandlerFunc
	caller func(c *caller, w http.ResponseWriter)
	// operator is set if the call changes what all tenants share.
	operator bool
	// long is set if the call may take any time and carry any amount of data, since none of it is
	// held in memory.
	long bool
	// calm is set if no fault rule strikes the call, so that rules can always be removed.
	calm bool
}

// Routes returns all calls of the API.
func Routes() []Route {
	const name, id = "/{name}", "/{id}"
	return []Route{
		{Method: http.MethodGet, Path: api.PathHealth, public: health},
		{Method: http.MethodGet, Path: api.PathDocument, public: document},
		{Method: http.MethodGet, Path: api.PathTenant, caller: getTenant, calm: true},
		{Method: http.MethodGet, Path: api.PathZones, handle: getList(Backend.Zones)},
		{Method: http.MethodGet, Path: api.PathInstanceTypes, handle: getList(Backend.InstanceTypes)},
		{Method: http.MethodGet, Path: api.PathImages, handle: getList(Backend.Images)},
		{Method: http.MethodGet, Path: api.PathQuota, handle: getQuota},
		{Method: http.MethodGet, Path: api.PathLoadBalancers, handle: getTagged(Backend.ListLoadBalancers)},
		{Method: http.MethodPut, Path: api.PathLoadBalancers + name, handle: ensureNamed(balancerName, Backend.EnsureLoadBalancer)},
		{Method: http.MethodGet, Path: api.PathLoadBalancers + name, handle: getOne("name", Backend.GetLoadBalancer)},
		{Method: http.MethodDelete, Path: api.PathLoadBalancers + name, handle: order("name", Backend.DeleteLoadBalancer)},
		{Method: http.MethodGet, Path: api.PathInstances, handle: listInstances},
		{Method: http.MethodPost, Path: api.PathInstances, handle: ensureInstance},
		{Method: http.MethodGet, Path: api.PathInstances + id, handle: getOne("id", Backend.GetInstance)},
		{Method: http.MethodDelete, Path: api.PathInstances + id, handle: order("id", Backend.DeleteInstance)},
		{Method: http.MethodPost, Path: api.PathInstances + id + api.SuffixDrain, handle: order("id", Backend.DrainInstance)},
		{Method: http.MethodPost, Path: api.PathInstances + id + api.SuffixPower + "/{action}", handle: switchInstance},
		{Method: http.MethodGet, Path: api.PathInstances + id + api.SuffixLog, handle: getLog, long: true},
		{Method: http.MethodPost, Path: api.PathInstances + id + api.SuffixExec, handle: execInInstance, long: true},
		{Method: http.MethodGet, Path: api.PathPools, handle: getTagged(Backend.ListPools)},
		{Method: http.MethodPut, Path: api.PathPools + name, handle: ensurePool},
		{Method: http.MethodPut, Path: api.PathPools + name + api.SuffixSize, handle: scalePool},
		{Method: http.MethodGet, Path: api.PathPools + name, handle: getOne("name", Backend.GetPool)},
		{Method: http.MethodDelete, Path: api.PathPools + name, handle: order("name", Backend.DeletePool)},
		{Method: http.MethodGet, Path: api.PathFaults, handle: listFaults, calm: true},
		{Method: http.MethodPut, Path: api.PathFaults + name, handle: ensureFault, calm: true},
		{Method: http.MethodGet, Path: api.PathFaults + name, handle: getFault, calm: true},
		{Method: http.MethodDelete, Path: api.PathFaults + name, handle: removeFault, calm: true},
		{Method: http.MethodGet, Path: api.PathContainerImages, images: listContainerImages},
		{Method: http.MethodPost, Path: api.PathContainerImages, images: loadContainerImages, operator: true, long: true},
		{Method: http.MethodDelete, Path: api.PathContainerImages, images: deleteContainerImage, operator: true},
		{Method: http.MethodGet, Path: api.PathWatch, handle: watch, long: true},
	}
}

func balancerName(spec cloud.LoadBalancerSpec) string { return spec.Name }
