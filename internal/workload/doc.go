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
