// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload reaches the API servers and the etcd of workload clusters with the kubeconfig secrets of Cluster API.
//
// Cluster API's ClusterCache makes one attempt to connect once the infrastructure is provisioned and tries again only 30
// seconds later, which is longer than a cluster needs to come up. So until the ClusterCache is connected, a direct client is
// used: it is made from the kubeconfig secret, costs one connection, and discovers nothing. Once it is connected, nodes and
// static pods are read from its informers, and only then can changes be watched.
//
// Programs without a ClusterCache use Clusters, which makes direct clients only, for objects of any kind, and limits their
// requests.
//
// etcd is reached by port-forward through the API server, so only the API server's endpoint has to be reachable. All members
// are asked, because a member that is cut off still answers, with what was true in the past.
//
// A cluster that does not answer is looked at in the background, so it never holds up the others.
//
// What kubeadm stores in the cluster is written with the code of Cluster API's kubeadm control plane.
//
// Limits: only what a kubeadm control plane has is read: its nodes, its static pods, its stacked etcd. External etcd is not
// read, and its problems hold up nothing.
package workload
