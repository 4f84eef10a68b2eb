// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package envtestenv starts a real kube-apiserver with etcd for tests, and loads into it Foo's CRDs and those of Cluster
// API core and the kubeadm bootstrap provider.
//
// The programs are found in the folder that KUBEBUILDER_ASSETS names, by default in bin/kubernetes/<version> of the
// repository, where `make node` puts them. Cluster API's CRDs come from the module in go.mod, so that they are always of
// the version that the code is compiled with.
//
// Limits: no controller and no webhook of Cluster API runs, and of Foo's webhooks those that the test serves. So nothing else converts, defaults or validates beyond the
// schemas, no garbage collector deletes what an owner leaves behind, and a namespace is never really gone: give every
// test its own.
package envtestenv
