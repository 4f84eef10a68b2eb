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

// Package machinepool reconciles FooMachinePools: it orders one instance pool for each, makes a FooMachine for each
// instance so that Cluster API makes a Machine for it, and shrinks the pool by deleting Machines, so that their Nodes are
// drained first. An instance of the pool is deleted by the controller of its FooMachine.
//
// Limits: it replaces neither instances that run with an old template nor Machines that a health check found wanting.
// One object holds the whole list of provider IDs, which ends near 8,000 instances.
package machinepool
