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

// Package kubeconfig keeps the secret <cluster>-kubeconfig, through which Cluster API, its users and this project reach
// the API server of a cluster.
//
// A kubeconfig that a user made is honoured and never changed. That of this project gets a new client certificate when half
// of the old one's life is over. A kubeconfig that is not for the cluster is reported and never replaced, for it may be the
// certificate authority that is the wrong one.
//
// Limits: a kubeconfig that a user made is not told when its credentials expire.
package kubeconfig
