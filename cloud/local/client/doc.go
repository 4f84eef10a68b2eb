// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client talks to the local cloud's daemon over its HTTP API and implements cloud.Cloud. It
// returns the typed errors of package cloud. If it cannot reach the daemon, it returns an
// UnavailableError that names the endpoint.
//
// The client paces itself as the cloud asks. It retries a call that gets a server error or no
// answer, for about a second in all, unless the cloud is known to be down for longer. Once the
// cloud has throttled a call, all calls of the client fail with a ThrottledError, without reaching
// the cloud, until the requested wait has passed.
//
// Limits: callers must wait out longer outages. The client never reopens a stream.
package client
