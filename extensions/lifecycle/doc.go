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

// Package lifecycle answers the lifecycle hooks of Cluster API: one small type for each, and one place that decides what to
// answer.
//
// A hook that has nothing to do, by the settings or by an annotation of the Cluster, is let go at once. Otherwise it asks the
// ledger of package work, blocks the Cluster until the job is done, and says what is waited for. A handler reads a cache and
// writes at most one object, so it is done in milliseconds whatever the job takes.
//
// Limits: only a topology that Cluster API manages has hooks. Answers depend on nothing in the status of the request's Cluster,
// which Cluster API leaves out.
package lifecycle
