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

// Package clusteridentity reconciles FooClusterIdentities: it asks the cloud whether it accepts the credentials, uses changed
// ones, and keeps an identity and its Secret for as long as a FooCluster uses it.
//
// Limits: it orders nothing from the cloud. Which namespaces may use an identity is checked where it is used.
package clusteridentity
