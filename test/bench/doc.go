// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures Foo on this machine and compares it with alternatives: how long a bare
// kubeadm init takes in an instance, how long a whole cluster takes and where that time is spent,
// what many clusters at once cost, how much memory a cluster needs, what a FooControlPlane costs
// compared with a KubeadmControlPlane on the same machines, and what a machine costs Foo's
// controllers in a small and in a large pool.
//
// For pools, it starts a kube-apiserver, and runs Foo's controllers with a fake cloud in its own
// process, because the machine could not hold thousands of instances. These results are the cost of
// the controllers only. For everything else, it starts its own management cluster with
// bin/quickstart, creates clusters of the flavor fast, and uses only what users of Foo have: the
// objects of Cluster API, the HTTP API of the cloud, and the processes of the machine. It leaves
// nothing behind.
//
// Absolute times on a busy machine mean little. Therefore each time is printed with the machine's
// load, compared things are measured alternately in one run, and the ratios are what counts.
package main
