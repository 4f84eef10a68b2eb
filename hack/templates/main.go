// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command templates writes docs/templates.md: the flavors and ClusterClasses that a release publishes, with their variables.
// What a flavor is for is the comment at the top of its kustomization; defaults are what the templates hold; meanings are in
// templates/variables.yaml; the variables of a ClusterClass are described by its schemas. It fails when one of them is missing,
// or says something of a variable that there is not. Run it in the root folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

func main() {
	templates := flag.String("templates", "templates", "folder of the templates")
	output := flag.String("output", "docs/templates.md", "file to write")
	flag.Parse()
	if err := run(*templates, *output); err != nil {
		fmt.Fprintln(os.Stderr, "templates:", err)
		os.Exit(1)
	}
}

func run(templates, output string) error {
	found, err := load(templates)
	if err != nil {
		return err
	}
	dir, file := filepath.Split(output)
	return repository.Files{file: render(found)}.Write(dir)
}
