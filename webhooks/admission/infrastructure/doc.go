// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package infrastructure admits FooClusters, FooClusterIdentities, FooMachines, FooMachinePools and
// their templates, with one file for the rules of each kind. Every write of an object, in whatever
// version, arrives here as v1beta2.
//
// Limits: a refusal depends on one object only, and a webhook does not ask the cloud. The
// controllers report in conditions if the cloud does not have an instance type.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-infrastructure-validation
package infrastructure
