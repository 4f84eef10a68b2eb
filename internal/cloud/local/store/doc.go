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

// Package store keeps the state of the local cloud in one bbolt file: instances, pools, load balancers, fault rules,
// addresses and the IDs that were given out. Every change is a transaction that is on disk when it returns.
//
// Limits: one process at a time. The file holds bootstrap data and is readable by its owner only.
package store
