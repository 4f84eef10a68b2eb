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

// Package machinepool reconciles FooMachinePools: it orders one instance pool for each, makes a FooMachine for each instance so
// that Cluster API makes a Machine for it, and removes instances by deleting their Machines, so that their Nodes are drained
// first. An instance of the pool is deleted by the controller of its FooMachine.
//
// Which Machines go, and when, is one decision for scale down, rollout, repair and the remediation that a MachineHealthCheck asks
// for: see disrupt. All of them draw on maxSurge and maxUnavailable.
//
// Limits: one object holds the whole list of provider IDs, which ends near 8,000 instances. Bootstrap data that is rendered
// differently, as a newer bootstrap provider may do, is other bootstrap data and rolls the pool. While an external autoscaler
// manages the replicas, a size that it asks for during a rollout is taken over after the rollout.
package machinepool
