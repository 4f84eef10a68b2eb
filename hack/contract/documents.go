// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// document is what a contract's document says about its rules.
type document struct {
	// rows of the table of rules, in its order.
	rows []row
	// anchors of the sections by lower-case title, as Markdown compares them.
	anchors map[string]string
}

// row is one row of a table of rules.
type row struct {
	title, mandatory, note string
}

const tableHeading = "## Rules (contract version v1beta2)"

var (
	rowPattern    = regexp.MustCompile(`^\|\s*\[(.+?)\]\s*\|\s*(\S+)\s*\|(.*)\|\s*$`)
	anchorPattern = regexp.MustCompile(`^\[(.+?)\]:\s*#(\S+)\s*$`)
)

// readDocuments reads the documents of all contracts by contract name.
func readDocuments(folder string) (map[string]document, error) {
	documents := map[string]document{}
	for _, c := range contracts {
		data, err := os.ReadFile(filepath.Join(folder, c.document))
		if err != nil {
			return nil, fmt.Errorf("reading the contract %s: %w", c.name, err)
		}
		parse := parseDocument
		if c.sections {
			parse = parseSections
		}
		documents[c.name] = parse(string(data))
	}
	return documents, nil
}

func parseDocument(text string) document {
	parsed := document{anchors: map[string]string{}}
	inTable := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			inTable = line == tableHeading
		}
		if found := anchorPattern.FindStringSubmatch(line); found != nil {
			parsed.anchors[strings.ToLower(plain(found[1]))] = found[2]
		}
		if found := rowPattern.FindStringSubmatch(line); inTable && found != nil {
			parsed.rows = append(parsed.rows, row{
				title: plain(found[1]), mandatory: found[2], note: strings.TrimSpace(found[3]),
			})
		}
	}
	return parsed
}

// plain removes the backquotes from a title.
func plain(title string) string { return strings.ReplaceAll(title, "`", "") }

func (d document) row(title string) (row, bool) {
	i := slices.IndexFunc(d.rows, func(r row) bool { return r.title == title })
	if i < 0 {
		return row{}, false
	}
	return d.rows[i], true
}

// checkComplete returns an error for each rule that is only in a document or only in the table.
func checkComplete(documents map[string]document) error {
	var problems []error
	for _, c := range contracts {
		found := documents[c.name]
		for _, r := range c.rules {
			if _, ok := found.row(r.title); !ok {
				problems = append(problems, fmt.Errorf("rules.go: %s: %s has no rule %q", c.id(r), c.document, r.title))
			}
		}
		for _, have := range found.rows {
			if !slices.ContainsFunc(c.rules, func(r rule) bool { return r.title == have.title }) {
				problems = append(problems, fmt.Errorf("rules.go: contract %s lacks the rule %q of %s", c.name, have.title, c.document))
			}
		}
	}
	return errors.Join(problems...)
}
