// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// section returns a page with the text between the two lines that mark a section.
func section(page, name, text string) ([]byte, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	begin, end := "<!-- "+name+": written by make generate -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil, fmt.Errorf("%s lacks the lines %q and %q", page, begin, end)
	}
	return []byte(before + begin + text + end + after), nil
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

// flagHelp returns the help of the manager's flags.
func flagHelp() string {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	manager.NewOptions(feature.MutableGates.DeepCopy()).AddFlags(flags)
	return "\n```text\n" + flags.FlagUsages() + "```\n\n"
}
