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
	"path/filepath"
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

// generated returns each page that this program writes, given the root folder.
var generated = map[string]func(root string) ([]byte, error){
	"docs/conditions.md": conditionsPage,
	"docs/manager.md": func(root string) ([]byte, error) {
		return section(filepath.Join(root, "docs/manager.md"), "flags", flagHelp())
	},
	"docs/runtime-extension.md": func(root string) ([]byte, error) {
		return section(filepath.Join(root, "docs/runtime-extension.md"), "settings", tables(hooks.Groups()))
	},
	"docs/templates.md": func(string) ([]byte, error) {
		meanings, err := templates.Sources.ReadFile("variables.yaml")
		if err != nil {
			return nil, err
		}
		return templatesPage(meanings)
	},
}

func run(root string) error {
	files := repository.Files{}
	for name, page := range generated {
		var err error
		if files[name], err = page(root); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return files.Write(root)
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
