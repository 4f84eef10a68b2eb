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

// The settings are between these lines of the page.
const (
	begin = "<!-- settings: written by make generate -->\n"
	end   = "<!-- end of settings -->\n"
)

// extensionPage returns the page with the settings that the code has.
func extensionPage(root string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, extensionFile))
	if err != nil {
		return nil, err
	}
	filled, err := fill(string(content), hooks.Groups())
	return []byte(filled), err
}

// fill returns the page with the settings of all groups inserted between the lines.
func fill(content string, groups []hooks.Group) (string, error) {
	before, rest, found := strings.Cut(content, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s lacks the lines %q and %q", extensionFile, begin, end)
	}
	var tables strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&tables, "\n### %s\n\n%s\n\n", group.Title, group.About)
		if len(group.Settings) == 0 {
			continue
		}
		tables.WriteString("| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n")
		for _, doc := range group.Settings {
			fmt.Fprintf(&tables, "| `%s` | %s | %s | %s |\n", doc.Name, code(doc.Default), cell(doc.Allowed), cell(doc.Meaning))
		}
	}
	tables.WriteString("\n")
	return before + begin + tables.String() + end + after, nil
}
