// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package message writes the texts that users see in the conditions of a Cluster. Cluster API compares such a text with the
// last one, so the same state must give the same text: without addresses, ports and times, in an order that does not change,
// and of a bounded length.
//
// Limits: what kind of error it is, is told from its type. Of an error of no known type the text is kept, and only what looks
// like an address, a time or a token is taken out of it.
package message

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength bounds a text, in bytes. A condition of a Cluster holds the texts of several.
const maxLength = 1024

// List returns the items in order and each once, with semicolons between. Of more than limit items it names the first ones,
// and says how many there are besides. A limit below one is one.
func List(items []string, limit int) string {
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	limit = max(limit, 1)
	if len(items) <= limit {
		return strings.Join(items, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(items[:limit], "; "), len(items)-limit)
}

// Of returns the text of an error as it may be shown. What the callers of a request added in front of it is kept. It is
// empty for no error.
func Of(err error) string {
	if err == nil {
		return ""
	}
	whole := err.Error()
	text, cause := explain(err)
	if cause == nil {
		return tidy(scrub(whole))
	}
	if front, ok := strings.CutSuffix(whole, cause.Error()); ok {
		return tidy(scrub(front) + text)
	}
	return tidy(text)
}

// Cause returns the text of an error without what the callers of a request added in front of it. It is for requests of which
// the first must find out how to ask, so that callers add something else the next time.
func Cause(err error) string {
	text, cause := explain(err)
	if cause == nil {
		return Of(err)
	}
	return tidy(text)
}

// tidy puts a text on one line and bounds it.
func tidy(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	text = strings.ToValidUTF8(strings.Join(words, " "), "?")
	if len(text) <= maxLength {
		return text
	}
	const more = " ..."
	end := maxLength - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}
