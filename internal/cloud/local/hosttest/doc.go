// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttest tests the local cloud on a real host: it builds foocloud, boots instances and load balancers, kills
// daemons and processes, and looks at what the host has left. The tests need root and Linux, and are built only with
// the tag "host":
//
//	go test -tags host ./internal/cloud/local/hosttest
//
// Most instances run a small agent of the tests in place of foonode, and nothing of Kubernetes. Those of node_test.go run what `make node`
// and `make programs` have made.
package hosttest
