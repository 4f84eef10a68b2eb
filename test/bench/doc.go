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

// Command bench measures Foo on this machine, next to what it can be compared with: how long a bare kubeadm init takes
// in an instance, how long a whole cluster takes and where that time goes, what many clusters at once cost, how much
// memory a cluster needs, and what a FooControlPlane costs next to a KubeadmControlPlane on the same machines.
//
// It starts a management cluster of its own with bin/quickstart, uses nothing of Foo but what its users have (the
// objects of Cluster API, the HTTP API of the cloud, the processes of the machine), and leaves nothing behind.
//
// Times on a machine that does other work at the same time say little. So each is printed with the machine's load,
// what is compared is measured by turns in one run, and the ratios count.
package main
