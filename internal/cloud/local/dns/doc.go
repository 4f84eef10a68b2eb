// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dns is the name server of the instances. It knows the host names of instances and the names of load balancers, each for the
// instances of their own tenant, and asks the resolvers of the host for all other names.
//
// A name that nobody answers for does not exist. Where the host has no resolver, that is said at once; where none of them answers, after
// two seconds at first, and soon for a while then. Nothing in an instance waits for a network that is not there.
//
// Limits: IPv4 addresses; it keeps no answers, and asks no more than a number of questions at once.
package dns
