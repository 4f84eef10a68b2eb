// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane converts the fields of the control plane kinds between v1beta1 and v1beta2.
// conversion-gen generates the functions for types whose fields match. The other functions are in
// conversion.go and status.go. They expect an empty result to write to.
//
// Limits: fields that only one version has are lost. Package conversion keeps them.
//
// +k8s:conversion-gen=github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2
// +k8s:conversion-gen-external-types=github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1
package controlplane
