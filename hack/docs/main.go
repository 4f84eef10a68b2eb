// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command docs writes pages of docs/, or sections of them, from what they describe: the conditions
// that the API declares, the flags of the manager, the settings of the runtime extension, and the
// templates of a release with the variables in templates/variables.yaml. Run it in the root folder.
//
// It fails if a condition or a variable is not described.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"log"
	"os"
	"strings"
	"text/template"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// names are the pages. Each has a template.
var names = []string{"conditions.md", "manager.md", "runtime-extension.md", "templates.md"}

//go:embed *.tmpl
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"conditions": conditions, "flags": flags, "settings": hooks.Groups,
	"flavors": flavors.Build, "shared": shared, "own": own, "spec": specOf,
	"meaning": meaning, "read": templates.Sources.ReadFile,
	"join": strings.Join, "trim": strings.Trim, "list": func(all ...any) []any { return all },
	// cell prevents a vertical bar or a line break from ending the cell of a table.
	"cell": func(text string) string {
		return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
	},
	// prose prevents Markdown from reading placeholders as HTML.
	"prose": func(text string) string { return strings.ReplaceAll(text, "<", "&lt;") },
}).ParseFS(files, "*.tmpl"))

func main() {
	log.SetFlags(0)
	for _, name := range names {
		text, err := page(name)
		if err == nil {
			err = repository.Files{name: text}.Write("docs")
		}
		if err != nil {
			log.Fatalf("docs: %s: %v", name, err)
		}
	}
}

// page returns what its template says. If that is not the whole page, it replaces a section.
func page(name string) ([]byte, error) {
	var text bytes.Buffer
	err := pages.ExecuteTemplate(&text, name+".tmpl", nil)
	if err != nil || bytes.HasPrefix(text.Bytes(), []byte("<!-- Written by make generate: ")) {
		return text.Bytes(), err
	}
	old, err := os.ReadFile("docs/" + name)
	if err != nil {
		return nil, err
	}
	return insert(string(old), text.String())
}

// insert replaces the section of a page between the lines that the text begins and ends with.
func insert(page, text string) ([]byte, error) {
	begin, _, _ := strings.Cut(text, "\n")
	end := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]
	before, rest, found := strings.Cut(page, begin+"\n")
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil, fmt.Errorf("it lacks the lines %q and %q", begin, end)
	}
	return []byte(before + text + after), nil
}

// flags returns the help of the manager's flags.
func flags() string {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	manager.NewOptions(feature.MutableGates.DeepCopy()).AddFlags(flags)
	return flags.FlagUsages()
}
