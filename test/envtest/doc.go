// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package envtestenv starts a real kube-apiserver with etcd for tests, and installs Foo's CRDs and
// those of Cluster API's core and kubeadm bootstrap provider.
//
// The programs are in the folder that KUBEBUILDER_ASSETS names, by default bin/kubernetes/<version>
// in the repository, where `make node` puts them. Cluster API's CRDs come from the module in
// go.mod, so their version always matches the code.
//
// Limits: no controllers or webhooks of Cluster API run, and only those of Foo's webhooks that the
// test serves. So nothing else converts, defaults or validates beyond the schemas, no garbage
// collector deletes owned objects, and a namespace is never fully deleted: give every test its own.
package envtestenv
