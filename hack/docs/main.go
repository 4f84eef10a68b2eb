// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command docs writes pages of docs/ from what they describe. Run it in the root folder.
//
// docs/templates.md comes from the flavors and ClusterClasses of a release. Comments of
// kustomizations say what they are for, and templates/variables.yaml what variables mean.
//
// docs/runtime-extension.md gets the settings of the runtime extension from its code.
//
// docs/conditions.md has the conditions and reasons that the API declares, with their comments.
//
// docs/manager.md gets the flags of the manager.
//
// It fails if something is described that does not exist, or is not described.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

//go:embed *.md.tmpl
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"join": strings.Join, "cell": cell,
}).ParseFS(pageFiles, "*.md.tmpl"))

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	meanings, err := templates.Sources.ReadFile("variables.yaml")
	if err != nil {
		return err
	}
	flavors, err := templatesPage(meanings)
	if err != nil {
		return err
	}
	extension, err := settingsSection.page(root, tables(hooks.Groups()))
	if err != nil {
		return err
	}
	conditions, err := conditionsPage(root)
	if err != nil {
		return err
	}
	flags, err := flagsSection.page(root, flagTable())
	if err != nil {
		return err
	}
	return repository.Files{flagsSection.file: flags, "docs/conditions.md": conditions, "docs/templates.md": flavors, settingsSection.file: extension}.Write(root)
}

// render fills in the template of a page.
func render(page string, content any) ([]byte, error) {
	var out bytes.Buffer
	err := pages.ExecuteTemplate(&out, page+".md.tmpl", content)
	return out.Bytes(), err
}

// cell prevents a vertical bar or a line break from ending the cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
