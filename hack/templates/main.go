// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command templates writes docs/templates.md: the flavors and ClusterClasses that a release
// publishes, with their variables. The purpose of a flavor is the comment at the top of its
// kustomization. Defaults come from the templates and meanings from templates/variables.yaml. The
// schemas of a ClusterClass describe its variables. The command fails if something is missing, or
// if a variable is described that does not exist. Run it in the root folder.
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
