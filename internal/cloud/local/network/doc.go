// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network makes the cloud's network on the host: a bridge with the network's first address, one card per
// instance, and one address per load balancer on the bridge. The bridge carries a mark of the state folder that made
// it, so that what belongs to others is never touched. Packet filters at the cards keep the instances of each tenant to themselves, and
// each instance to its own address.
//
// Limits: IPv4; instances reach those of their tenant and the host, and nothing beyond.
package network
