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

package cloud

import "strings"

const providerIDScheme = "foo:///"

// ProviderID returns the provider ID of an instance in a zone: foo:///<zone>/<id>.
func ProviderID(zone, id string) string { return providerIDScheme + zone + "/" + id }

// PoolProviderID returns the provider ID of an instance pool: foo:///<name>. A pool's name holds no slash, so it never looks
// like the provider ID of an instance.
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
