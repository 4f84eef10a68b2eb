// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// extensionFile is the page with the settings of the runtime extension.
const extensionFile = "docs/runtime-extension.md"

// settingsSection is the part of the page with the settings.
var settingsSection = generated{
	file: extensionFile, begin: "<!-- settings: written by make generate -->\n", end: "<!-- end of settings -->\n",
}

// generated is the part of a page that is written by this program, between two lines.
type generated struct {
	file, begin, end string
}

// fill returns the page with the text between the lines.
func (s generated) fill(content, text string) (string, error) {
	before, rest, found := strings.Cut(content, s.begin)
	_, after, closed := strings.Cut(rest, s.end)
	if !found || !closed {
		return "", fmt.Errorf("%s lacks the lines %q and %q", s.file, s.begin, s.end)
	}
	return before + s.begin + text + s.end + after, nil
}

// extensionPage returns the page with the settings that the code has.
func extensionPage(root string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, extensionFile))
	if err != nil {
		return nil, err
	}
	filled, err := settingsSection.fill(string(content), tables(hooks.Groups()))
	return []byte(filled), err
}

// tables returns the settings of all groups.
func tables(groups []hooks.Group) string {
	var text strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&text, "\n### %s\n\n%s\n\n", group.Title, group.About)
		if len(group.Settings) == 0 {
			continue
		}
		text.WriteString("| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n")
		for _, doc := range group.Settings {
			fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", doc.Name, code(doc.Default), cell(doc.Allowed), cell(doc.Meaning))
		}
	}
	text.WriteString("\n")
	return text.String()
}
