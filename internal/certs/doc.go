// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
