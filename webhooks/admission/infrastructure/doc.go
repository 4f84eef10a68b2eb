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

// Package infrastructure admits FooClusters, FooMachines, FooMachinePools and their templates: one file for the rules of
// each kind. Every write of an object, in whatever version, comes here in v1beta2.
//
// Limits: a webhook sees one object and does not ask the cloud. An instance type that the cloud does not have is reported
// by the controllers, in conditions.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-infrastructure-validation
package infrastructure
