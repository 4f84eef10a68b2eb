// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// serveImages answers a call about container images. All tenants share the images, so if there are
// several tenants, no tenant alone may change what the others run.
func (s *Server) serveImages(route Route, w http.ResponseWriter, r *http.Request) error {
	if s.Images == nil {
		return &cloud.UnavailableError{Message: "the cloud runs no registry: it was started with --registry-port=0"}
	}
	if route.operator && s.several && reachOf(r) != fault.ReachAll {
		return &cloud.UnauthorizedError{
			Message: "all tenants share the container images, so only an administrator, who calls over the unix socket, may load and delete them",
		}
	}
	return route.images(s.Images, w, r)
}

func listContainerImages(i Images, w http.ResponseWriter, _ *http.Request) error {
	list, err := i.List()
	if err == nil {
		sendList(w, list)
	}
	return err
}

func loadContainerImages(i Images, w http.ResponseWriter, r *http.Request) error {
	list, err := i.Load(r.Body, r.URL.Query().Get(api.ParameterName))
	if err == nil {
		sendList(w, list)
	}
	return err
}

func deleteContainerImage(i Images, w http.ResponseWriter, r *http.Request) error {
	err := i.Delete(r.URL.Query().Get(api.ParameterName))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
