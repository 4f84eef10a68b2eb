// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload connects to the API servers and etcds of workload clusters with Cluster API's
// kubeconfig Secrets.
//
// Cluster API's ClusterCache makes one attempt to connect once the infrastructure is provisioned,
// and retries only after 30 seconds, which is longer than a cluster needs to come up. So until the
// ClusterCache is connected, this package uses a direct client: it is created from the kubeconfig
// Secret, costs one connection, and needs no discovery. Once the ClusterCache is connected, Nodes
// and static Pods are read from its informers. Only then can changes be watched.
//
// Programs without a ClusterCache use Clusters. It creates only direct clients, for objects of any
// kind, and limits their requests.
//
// etcd is reached by port-forward through the API server, so only the API server's endpoint must be
// reachable. All members are queried, because a member that is cut off still answers, with outdated
// information.
//
// A cluster that does not answer is queried in the background, so it never delays the others.
//
// What kubeadm stores in the cluster is written with the code of Cluster API's kubeadm control
// plane provider.
//
// Limits: only the parts of a kubeadm control plane are read: its Nodes, its static Pods and its
// stacked etcd. External etcd is not read, and its problems block nothing.
package workload
