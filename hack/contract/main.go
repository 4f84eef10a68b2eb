// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	fooModule        = "github.com/capfoo/cluster-api-provider-foo"
	clusterAPIModule = "sigs.k8s.io/cluster-api"
	documentFolder   = "docs/book/src"
	outputPath       = "docs/contract.md"
)

func main() {
	verify := flag.Bool("verify", false, "write nothing, and fail if "+outputPath+" is stale")
	flag.Parse()
	act := write
	if *verify {
		act = compare
	}
	if err := run(context.Background(), act); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

// run generates the document and passes it to act with its path.
func run(ctx context.Context, act func(path string, content []byte) error) error {
	modules, err := findModules(ctx)
	if err != nil {
		return err
	}
	content, err := generate(modules)
	if err != nil {
		return err
	}
	return act(filepath.Join(modules.foo, outputPath), content)
}

func generate(found modules) ([]byte, error) {
	documents, err := readDocuments(filepath.Join(found.clusterAPI, filepath.FromSlash(documentFolder)))
	if err != nil {
		return nil, err
	}
	if err := checkComplete(documents); err != nil {
		return nil, err
	}
	evidence, err := scan(found.foo)
	if err != nil {
		return nil, err
	}
	return render(found.version, documents, evidence), nil
}

func write(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

func compare(path string, content []byte) error {
	current, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	if !bytes.Equal(current, content) {
		return fmt.Errorf("%s is stale: run `make generate`", outputPath)
	}
	return nil
}

// modules holds the roots of the two modules that the document is generated from, and the version
// of Cluster API's module.
type modules struct {
	foo, clusterAPI, version string
}

func findModules(ctx context.Context) (modules, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}} {{.Version}}", fooModule, clusterAPIModule)
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return modules{}, fmt.Errorf("finding the modules: %w: %s", err, exit.Stderr)
		}
		return modules{}, fmt.Errorf("finding the modules: %w", err)
	}
	// The main module has no version, so there are three words.
	words := strings.Fields(string(output))
	if len(words) != 3 {
		return modules{}, fmt.Errorf("finding the modules: go list answered %q", output)
	}
	return modules{foo: words[0], clusterAPI: words[1], version: words[2]}, nil
}
