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

// Package api holds the tests that all versions of Foo's kinds share: that schemas and Go types keep to the conventions of
// Kubernetes and Cluster API, that every field says what it is for, and that the CRDs are small enough to be applied.
//
// Limits: the rules are those of kube-api-linter in the selection of Cluster API that can be told from the schemas and from
// the Go files. v1beta1 follows the earlier types of Cluster API, which break most of them, so only some hold for it.
package api
