// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures Foo on this machine, next to what it can be compared with: how long a bare kubeadm init takes
// in an instance, how long a whole cluster takes and where that time goes, what many clusters at once cost, how much
// memory a cluster needs, what a FooControlPlane costs next to a KubeadmControlPlane on the same machines, and what a machine
// of a pool costs Foo's controllers when the pool is small and when it is large.
//
// For the pools it starts a kube-apiserver, and Foo's controllers with a fake cloud in its own process: the machine could not
// hold thousands of instances. What it says of them is the cost of the controllers. For all else it starts a management cluster
// of its own with bin/quickstart, makes clusters of the flavor fast, and uses nothing of Foo but what its users have (the objects of Cluster API, the HTTP API of
// the cloud, the processes of the machine). It leaves nothing behind.
//
// Times on a machine that does other work at the same time say little. So each is printed with the machine's load,
// what is compared is measured by turns in one run, and the ratios count.
package main
