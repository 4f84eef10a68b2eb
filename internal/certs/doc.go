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

// Package certs keeps the certificate secrets of a cluster: <cluster>-ca, -etcd, -proxy and -sa, in the names and the
// format of Cluster API, which the kubeadm bootstrap provider reads.
//
// A secret that a user made is honoured and never changed. A secret that is missing is generated, in the encryption
// algorithm that the cluster configuration asks for, but only by LookupOrGenerate: once a control plane machine has used
// a certificate authority, a new one would cut the cluster in two, so from then on callers use Lookup, which reports what
// is missing. What is there is checked before it is used: that it can be parsed, that key and certificate belong together,
// that an authority is one, and that it has not expired.
//
// Limits: certificate authorities are not rotated, and the certificates that kubeadm makes on machines are not its concern.
package certs
