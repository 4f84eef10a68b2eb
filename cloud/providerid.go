// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import "strings"

const providerIDScheme = "foo:///"

// ProviderID returns the provider ID of an instance in a zone: foo:///<zone>/<id>.
func ProviderID(zone, id string) string { return providerIDScheme + zone + "/" + id }

// PoolProviderID returns the provider ID of an instance pool: foo:///<name>. A pool's name contains
// no slash, so it never looks like the provider ID of an instance.
func PoolProviderID(name string) string { return providerIDScheme + name }

// InstanceID returns the ID of the instance that a provider ID names, or an InvalidError.
func InstanceID(providerID string) (string, error) {
	rest, found := strings.CutPrefix(providerID, providerIDScheme)
	zone, id, both := strings.Cut(rest, "/")
	if !found || !both || zone == "" || id == "" || strings.Contains(id, "/") {
		return "", &InvalidError{
			Field: "spec.providerID", Value: providerID, Problem: "not of a Foo instance", Allowed: []string{"foo:///<zone>/<instance ID>"},
		}
	}
	return id, nil
}
