// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer implements a TCP load balancer that runs in its own process, and the driver
// that starts such processes.
//
// Connections go to the ready backends in turn; a backend is ready if its /readyz answers over
// HTTPS. If no backend is ready, a backend that at least accepts connections is used. If there is
// none of these either, connections are queued and forwarded as soon as there is one. A backend
// that is removed, or that stops being ready while another one is ready, loses its connections, so
// that its clients reconnect to another backend. The connections of one client are limited, since the
// instances of all tenants can connect.
//
// Limits: one port, TCP only. The load balancer does not inspect the traffic. The health check does
// not verify a backend's certificate; clients verify it themselves.
package loadbalancer
