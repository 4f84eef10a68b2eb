// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dns is the name server for instances. It resolves the host names of instances and the
// names of load balancers, each only for instances of the same tenant. It forwards all other names
// to the host's resolvers.
//
// A name that nobody answers for does not exist. If the host has no resolver, the server replies
// immediately. If no resolver answers, it replies after two seconds at first, and then sooner for a
// while. So instances never wait for an unreachable network.
//
// Limits: it supports IPv4 addresses only, caches no answers, and limits how many questions of an
// instance, and of all, it forwards at the same time.
package dns
