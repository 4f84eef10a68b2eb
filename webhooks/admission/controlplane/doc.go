// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane admits FooControlPlanes, their templates and their scale subresource: one file for each. Objects of
// every version arrive here in v1beta2. The rules are in internal/controlplanerules, which the controller follows too. The
// schema alone checks spec.replicas; the webhook for scale adds the rules that join spec.replicas to other fields.
//
// Limits: a webhook sees one object. Whether the infrastructure machine template exists is left to the controller.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-control-plane-validation
// +kubebuilder:webhookconfiguration:mutating=true,name=foo-control-plane-defaulting
package controlplane
