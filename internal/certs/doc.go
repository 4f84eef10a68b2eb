// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs keeps the certificate Secrets of a cluster: <cluster>-ca, -etcd, -proxy and -sa,
// with Cluster API's names and format, which the kubeadm bootstrap provider reads.
//
// A Secret that a user created is used and never changed. Only LookupOrGenerate generates missing
// Secrets, with the encryption algorithm that the cluster configuration requests. Once a control
// plane machine has used a certificate authority, a new one would cut the cluster in two. From then
// on, callers use Lookup, which reports what is missing. Existing Secrets are checked before they
// are used: they must parse, key and certificate must belong together, an authority must be one,
// and it must not have expired.
//
// Limits: certificate authorities are not rotated, and the package does not handle the certificates
// that kubeadm creates on machines.
package certs
