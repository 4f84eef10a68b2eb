// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network creates the cloud's network on the host: a bridge with the network's first
// address, one card per instance, and one address on the bridge per load balancer. The bridge
// carries a mark of the state folder that it was created for, so that interfaces of others are
// never touched. Packet filters on the cards restrict instances to traffic with their own tenant,
// and to their own address.
//
// Limits: IPv4 only. Instances reach the host and instances of their tenant, but nothing beyond.
package network
