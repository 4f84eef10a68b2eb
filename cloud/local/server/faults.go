// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// reachOf returns whose fault rules a caller may see and change. Only the owner of the unix socket
// can connect to it, and the owner can read every token and the state anyway.
func reachOf(r *http.Request) fault.Reach {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if ok && local.Network() == "unix" {
		return fault.ReachAll
	}
	return fault.ReachOwn
}

// disturb applies the fault rules to a call: it delays the call, or returns the error to refuse it
// with.
func disturb(ctx context.Context, b Faults) error {
	d, err := b.Disturbance(ctx)
	if err != nil {
		return err
	}
	if d.Delay > 0 {
		timer := time.NewTimer(d.Delay)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	return d.Err
}

func listFaults(b Backend, w http.ResponseWriter, r *http.Request) error {
	rules, err := b.ListFaults(r.Context(), reachOf(r))
	if err == nil {
		sendList(w, rules)
	}
	return err
}

func ensureFault(b Backend, w http.ResponseWriter, r *http.Request) error {
	spec, err := receive[fault.Spec](r)
	if err != nil {
		return err
	}
	if name := r.PathValue("name"); spec.Name != name {
		return wrongName(spec.Name, name)
	}
	rule, err := b.EnsureFault(r.Context(), reachOf(r), spec)
	if err == nil {
		send(w, http.StatusOK, rule)
	}
	return err
}

func wrongName(given, path string) error {
	return &cloud.InvalidError{Field: "name", Value: given, Problem: "is not the name in the path", Allowed: []string{path}}
}

func getFault(b Backend, w http.ResponseWriter, r *http.Request) error {
	rule, err := b.GetFault(r.Context(), reachOf(r), r.URL.Query().Get(api.ParameterTenant), r.PathValue("name"))
	if err == nil {
		send(w, http.StatusOK, rule)
	}
	return err
}

func removeFault(b Backend, w http.ResponseWriter, r *http.Request) error {
	err := b.RemoveFault(r.Context(), reachOf(r), r.URL.Query().Get(api.ParameterTenant), r.PathValue("name"))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
