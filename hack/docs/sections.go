// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// section is the part of a page that is written by this program, between two lines.
type section struct {
	file, begin, end string
}

var (
	// settingsSection has the settings of the runtime extension.
	settingsSection = section{"docs/runtime-extension.md", "<!-- settings: written by make generate -->\n", "<!-- end of settings -->\n"}
	// flagsSection has the flags of the manager.
	flagsSection = section{"docs/manager.md", "<!-- flags: written by make generate -->\n", "<!-- end of flags -->\n"}
)

// page returns the page with the text in its section.
func (s section) page(root, text string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, s.file))
	if err != nil {
		return nil, err
	}
	filled, err := s.fill(string(content), text)
	return []byte(filled), err
}

// fill returns the content with the text between the lines.
func (s section) fill(content, text string) (string, error) {
	before, rest, found := strings.Cut(content, s.begin)
	_, after, closed := strings.Cut(rest, s.end)
	if !found || !closed {
		return "", fmt.Errorf("%s lacks the lines %q and %q", s.file, s.begin, s.end)
	}
	return before + s.begin + text + s.end + after, nil
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

// flagTable returns the flags of the manager.
func flagTable() string {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	manager.NewOptions(feature.MutableGates.DeepCopy()).AddFlags(flags)
	var table strings.Builder
	table.WriteString("\n| flag | default | meaning |\n| --- | --- | --- |\n")
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Deprecated == "" {
			fmt.Fprintf(&table, "| `--%s` | %s | %s |\n", flag.Name, code(flag.DefValue), cell(flag.Usage))
		}
	})
	table.WriteString("\n")
	return table.String()
}
