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

// Package extension tests the runtime extension as Cluster API's runtime meets it: its servers are called over TLS, several of
// them run, as replicas do, and the ConfigMaps of their jobs are in a real kube-apiserver. What the jobs do is up to the test.
//
// Limits: Cluster API's own runtime does not run here; test/e2e has it call a released extension on real machines.
package extension
