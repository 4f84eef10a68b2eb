// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"fmt"
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
		return tidy(scrub(whole))
	}
	if front, ok := strings.CutSuffix(whole, cause.Error()); ok {
		return tidy(scrub(front) + text)
	}
	return tidy(text)
}

// Cause returns the text of an error without what the callers of a request added in front of it.
// Use it if the first request must find out how to ask, because callers then add something else the
// next time.
func Cause(err error) string {
	text, cause := explain(err)
	if cause == nil {
		return Message(err)
	}
	return tidy(text)
}

// tidy puts a text on one line and limits its length.
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
