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

// Package machinetemplate tells of each FooMachineTemplate what a node that is made from it will have: CPUs, memory, architecture
// and operating system. The cluster autoscaler reads it to add the first node of a group.
//
// Limits: a cloud tells of no change of its catalog, so a changed size is noticed only when a template changes or at a resync.
package machinetemplate
