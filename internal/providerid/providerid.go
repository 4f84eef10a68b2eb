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

// Package providerid reads the provider IDs of Foo instances, foo:///<zone>/<id>, and makes that of a pool.
//
// Limits: it reads the form only; whether the instance is there is for the cloud to say.
package providerid

import (
	"fmt"
	"strings"
)

const scheme = "foo:///"

// InvalidError says that a provider ID is not one of a Foo instance.
type InvalidError struct {
	// ProviderID as given.
	ProviderID string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("provider ID %q is not of the form foo:///<zone>/<instance ID>", e.ProviderID)
}

// InstanceID returns the ID of the instance that a provider ID names, or an InvalidError.
func InstanceID(providerID string) (string, error) {
	rest, found := strings.CutPrefix(providerID, scheme)
	zone, id, both := strings.Cut(rest, "/")
	if !found || !both || zone == "" || id == "" || strings.Contains(id, "/") {
		return "", &InvalidError{ProviderID: providerID}
	}
	return id, nil
}

// Pool returns the provider ID of an instance pool: foo:///<name>. A pool's name holds no slash, so that it never looks
// like the provider ID of an instance.
func Pool(name string) string { return scheme + name }
