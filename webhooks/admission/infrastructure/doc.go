// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package infrastructure admits FooClusters, FooMachines, FooMachinePools and their templates: one file for the rules of
// each kind. Every write of an object, in whatever version, comes here in v1beta2.
//
// Limits: a webhook sees one object and does not ask the cloud. An instance type that the cloud does not have is reported
// by the controllers, in conditions.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-infrastructure-validation
package infrastructure
