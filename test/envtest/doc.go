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
