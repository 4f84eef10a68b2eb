// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance tells a provider of Cluster API whether it meets Cluster API's contracts.
//
// The rules of the contracts are data: Rules lists them. A Checker checks a provider against the
// rules of one level: package lint reads manifests, package behaviour runs the provider's manager
// against a kube-apiserver. Check runs checkers and makes a Report; Run does so in a Go test.
//
// The suite knows nothing of any provider. Limits: a rule that nothing could check is reported as
// "notRun" and never as "passed".
package conformance
