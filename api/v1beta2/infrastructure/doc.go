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

// Package infrastructure holds version v1beta2 of Foo's infrastructure API: FooCluster, FooMachine, FooMachinePool and
// their templates, with the condition types and reasons that their controllers set.
//
// v1beta2 is the storage version and meets the v1beta2 contracts infra-cluster, infra-machine and infra-machinepool.
//
// Limits: the package holds types, constants and accessors. Defaulting beyond the schema, admission and conversion live
// in the webhooks folder; nothing here talks to an API server or to a cloud.
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
// +versionName=v1beta2
package infrastructure
