// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"net/netip"
	"regexp"
	"strings"
)

// Placeholders for text that changes while the state is the same, or that must not be shown.
const (
	anAddress = "<address>"
	aTime     = "<time>"
	aToken    = "<token>"
	aNumber   = "<number>"
)

var (
	urls      = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `<>]+`)
	bearers   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9._-]+`)
	instants  = regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?( ?(Z|UTC|[+-]\d\d:?\d\d))*`)
	durations = regexp.MustCompile(`\b(\d+(\.\d+)?(ns|us|µs|ms|h|m|s))+\b`)
	pointers  = regexp.MustCompile(`\b0x[0-9a-f]{4,}\b`)
	hostPorts = regexp.MustCompile(`\b[A-Za-z0-9][A-Za-z0-9.-]*:\d{2,5}\b`)
	ipLike    = regexp.MustCompile(`\[?[0-9a-fA-F]*[:.][0-9a-fA-F:.]*[0-9a-fA-F:](%[a-z0-9]+)?\]?(:\d+)?`)
)

// scrub replaces what looks like an address, a time or a token in a text.
func scrub(text string) string {
	text = urls.ReplaceAllString(text, anAddress)
	text = bearers.ReplaceAllString(text, aToken)
	text = instants.ReplaceAllString(text, aTime)
	text = ipLike.ReplaceAllStringFunc(text, address)
	text = hostPorts.ReplaceAllString(text, anAddress)
	text = durations.ReplaceAllString(text, aTime)
	return pointers.ReplaceAllString(text, aNumber)
}

// address replaces an IP address, with or without a port, and leaves everything else.
func address(text string) string {
	bare := strings.TrimRight(text, ":")
	if _, err := netip.ParseAddrPort(bare); err == nil {
		return anAddress + text[len(bare):]
	}
	if _, err := netip.ParseAddr(strings.Trim(bare, "[]")); err == nil {
		return anAddress + text[len(bare):]
	}
	return text
}
