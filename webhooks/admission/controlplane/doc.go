// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane admits FooControlPlanes, their templates and their scale subresource, with
// one file for each. The validating webhooks get objects of every version as v1beta2. The rules for
// objects are in internal/controlplanerules, and the controller follows them too. The rules for
// changes are in changes.go. The schema alone checks spec.replicas; the webhook for scale adds the
// rules that relate spec.replicas to other fields.
//
// Limits: a webhook sees one object. The controller checks whether the infrastructure machine
// template exists.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-control-plane-validation
// +kubebuilder:webhookconfiguration:mutating=true,name=foo-control-plane-defaulting
package controlplane
