// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client talks to the local cloud's daemon over its HTTP API and implements cloud.Cloud. Errors are the typed
// ones of package cloud; a daemon that can not be reached is an UnavailableError that names the endpoint.
//
// It keeps the pace that the cloud asks for. A call that meets an error of the server, or no answer, is made again within about a
// second, unless the cloud is known to be down for longer. Once the cloud has throttled a call, all calls of the client fail with
// a ThrottledError, without reaching the cloud, until the time has passed that the cloud asked to wait.
//
// Limits: longer trouble is for callers to wait out. Streams are never opened again.
package client
