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

// Package sharing tests that managers which are told different values of --watch-filter share a management cluster, and a
// cloud, without touching each other's objects.
//
// Limits: the controllers run in one process with a cloud that is simulated, and nothing of Cluster API runs: the test does
// the part of its controllers.
package sharing
