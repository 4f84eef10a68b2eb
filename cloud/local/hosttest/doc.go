// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttest tests the local cloud on a real host. It builds foocloud, boots instances and
// load balancers, kills daemons and processes, and checks what is left on the host. The tests need
// root and Linux, and are built only with the tag "host":
//
//	go test -tags host ./cloud/local/hosttest
//
// Most instances run a small test agent in place of foonode, and no Kubernetes. The instances in
// node_test.go run the node image of a release, which `make images` has written.
package hosttest
