// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is the server that Cluster API calls for runtime hooks: Cluster API's own, with
// Foo's handlers.
//
// It is the webhook server of the manager, so certificates are reloaded when they change. With a
// client CA, it accepts calls only from clients that have a certificate of that CA, as Cluster
// API's manager has with --runtime-extension-client-cert-file. That CA is reloaded too.
//
// Limits: HTTPS only, as Cluster API requires. Request bodies are at most 20 MiB. After its CA is
// replaced, a caller may keep using connections that are already open.
package server
