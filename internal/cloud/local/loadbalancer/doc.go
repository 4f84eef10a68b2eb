// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer is a TCP load balancer in a process of its own, and the driver that starts such processes.
//
// A connection goes to the next ready backend in turn; a backend is ready when its /readyz answers over HTTPS. While
// none is, one that at least accepts connections is used; while there is none of these either, connections are held
// and forwarded as soon as there is one, as a queue does. A backend that is removed, or stops being ready while another
// is, loses its connections, so that its clients go to another.
//
// Limits: one port, TCP; what is forwarded is not looked into. The certificate of a backend is not verified by the
// health check: the client that is forwarded does that.
package loadbalancer
