// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network creates the cloud's network in a network namespace of its own: a bridge with the
// network's first address, one card per instance, one address on the bridge per load balancer, and
// one interface on the host that connects it to the bridge. So the cloud changes no setting, packet
// filter or port of the host. The host's interface carries a mark of the state folder that it was
// created for, so that interfaces of others are never touched. Packet filters on the cards restrict
// instances to traffic with their own tenant, and to their own address.
//
// Limits: IPv4 only. Instances reach the host and instances of their tenant, but nothing beyond.
package network
