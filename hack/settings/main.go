// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command settings writes the settings of the runtime extension into docs/runtime-extension.md, so
// that the page matches the code. Run it in the root folder.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const page = "docs/runtime-extension.md"

// The command writes the text between these lines.
const (
	begin = "<!-- settings: written by make generate -->\n"
	end   = "<!-- end of settings -->\n"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "settings:", err)
		os.Exit(1)
	}
}

func run() error {
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("run it in the root folder: %w", err)
	}
	filled, err := fill(string(content), hooks.Groups())
	if err != nil {
		return err
	}
	return repository.Files{page: []byte(filled)}.Write(".")
}

// fill returns the page with the settings of all groups inserted between the lines.
func fill(content string, groups []hooks.Group) (string, error) {
	before, rest, found := strings.Cut(content, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s lacks the lines %q and %q", page, begin, end)
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

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell escapes a text for a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
