/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package workload reaches the API server and the etcd of workload clusters, through the kubeconfig secret of Cluster API.
//
// Cluster API's ClusterCache makes one attempt to connect once the infrastructure stands and tries again only 30 seconds
// later, which is longer than a cluster needs to come up. So before the ClusterCache is connected, a direct client
// answers: it is made from the kubeconfig secret, costs one connection, and discovers nothing. Reads that repeat, of nodes
// and static pods, come from the ClusterCache's informers as soon as it is connected, and only then can changes be watched.
//
// Those who run no ClusterCache have Clusters, which make direct clients only, of any kind, and limit how much they ask.
//
// etcd is reached by port-forward through the API server, so nothing but the API server's endpoint has to be reachable. All
// members are asked, since one that is cut off still answers, and what it says is of the past.
//
// A cluster that does not answer costs time, so those that have been slow share a few places, and never hold up the others.
//
// What kubeadm keeps in the cluster is written by the code of Cluster API's kubeadm control plane.
//
// Limits: only what a kubeadm control plane shows is read: its nodes, its static pods, its stacked etcd. External etcd is
// not read, and what is wrong with it holds up nothing.
package workload
