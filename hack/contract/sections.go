// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strconv"
	"strings"
)

// headingPattern finds the headings that begin a section: deeper ones are part of the section above
// them.
var headingPattern = regexp.MustCompile(`^(#{2,4}) +(.+)$`)

// asidePattern finds explanatory boxes in a document, which set no rules.
var asidePattern = regexp.MustCompile(`(?s)<aside.*?</aside>`)

// parseSections reads a document without a table of rules: each section with its own text is a
// rule. Its title includes the title of the enclosing section, because titles such as "Variables"
// occur more than once.
func parseSections(text string) document {
	parsed := document{anchors: map[string]string{}}
	anchors := map[string]int{}
	var parent string
	var section row
	// begun is whether the section already has text, and therefore a row.
	begun, fenced := true, false
	for line := range strings.Lines(asidePattern.ReplaceAllString(text, "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		heading := headingPattern.FindStringSubmatch(line)
		switch {
		case heading != nil && !fenced:
			title := plain(heading[2])
			if len(heading[1]) < len("####") {
				parent = title
			} else {
				title = parent + ": " + title
			}
			anchor := anchorOf(heading[2])
			parsed.anchors[strings.ToLower(title)] = numbered(anchor, anchors[anchor])
			anchors[anchor]++
			section, begun = row{title: title, mandatory: "No"}, false
		case line != "":
			if !begun {
				parsed.rows, begun = append(parsed.rows, section), true
			}
			parsed.require(line)
		}
	}
	return parsed
}

// require makes the last row mandatory if the line says MUST.
func (d document) require(line string) {
	if strings.Contains(line, "MUST") && len(d.rows) > 0 {
		d.rows[len(d.rows)-1].mandatory = "Yes"
	}
}

// numbered makes the anchors of sections with the same heading unique, as the book does.
func numbered(anchor string, before int) string {
	if before == 0 {
		return anchor
	}
	return anchor + "-" + strconv.Itoa(before)
}

// anchorOf returns the book's anchor for a heading.
func anchorOf(heading string) string {
	var anchor strings.Builder
	for _, letter := range strings.ToLower(heading) {
		switch {
		case letter == ' ':
			anchor.WriteByte('-')
		case letter == '-', letter >= 'a' && letter <= 'z', letter >= '0' && letter <= '9':
			anchor.WriteRune(letter)
		}
	}
	return anchor.String()
}
