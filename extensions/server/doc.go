// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is the server that Cluster API's runtime calls: Cluster API's own, with Foo's handlers.
//
// It is the webhook server of the manager, so certificates are read anew when they change. With a client CA it takes calls only
// from who has a certificate of that CA, as Cluster API's manager has with --runtime-extension-client-cert-file. That CA is
// read anew too.
//
// Limits: HTTPS only, as Cluster API demands. Request bodies are at most 20 MiB. A caller whose CA is replaced may go on with
// connections that are open.
package server
