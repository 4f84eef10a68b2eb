// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength is the maximum length of a text in bytes. A condition of a Cluster holds several texts,
// and an API server refuses an event with a longer one.
const maxLength = 1024

// Join returns the items sorted, without duplicates and separated by semicolons. If there are more
// than limit items, it names the first ones and how many more there are. A limit below 1 counts as
// 1.
func Join(items []string, limit int) string {
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	limit = max(limit, 1)
	if len(items) <= limit {
		return strings.Join(items, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(items[:limit], "; "), len(items)-limit)
}

// Message returns the text of an error in a form that may be shown. The kind of an error is
// determined by its type. If the type is unknown, the text is kept, except for what looks like an
// address, a time or a token. It keeps what the callers of a
// request added in front of the error. It returns an empty text for nil.
func Message(err error) string {
	if err == nil {
		return ""
	}
	whole := err.Error()
	text, cause := explain(err)
	if cause == nil {
		return Line(scrub(whole), maxLength)
	}
	if front, ok := strings.CutSuffix(whole, cause.Error()); ok {
		return Line(scrub(front)+text, maxLength)
	}
	return Line(text, maxLength)
}

// Cause returns the text of an error without what the callers of a request added in front of it.
// Use it if the first request must find out how to ask, because callers then add something else the
// next time.
func Cause(err error) string {
	text, cause := explain(err)
	if cause == nil {
		return Message(err)
	}
	return Line(text, maxLength)
}

// Line puts a text on one line and limits its length in bytes.
func Line(text string, limit int) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	text = strings.ToValidUTF8(strings.Join(words, " "), "?")
	if len(text) <= limit {
		return text
	}
	const more = " ..."
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

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
