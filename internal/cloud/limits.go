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

// What names may have at most. Kubernetes allows longer names of objects, so admission checks those that become host names.
const (
	// MaxHostname is the length of a label in DNS.
	MaxHostname = 63
	// MaxHostnamePrefix leaves room for what the cloud appends to a pool's prefix.
	MaxHostnamePrefix = 57
)
