// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release writes what a version of Foo publishes as a clusterctl repository in a folder, with a configuration that
// lets clusterctl use it from there without a network:
//
//	clusterctl generate cluster demo --config out/clusterctl.yaml --infrastructure foo:v0.1.0 ...
//
// The same sources and version give the same bytes. Only clusterctl.yaml is bound to its place, since clusterctl asks for
// absolute paths; so SHA256SUMS leaves it out.
//
// Limits: other versions in the folder stay there, but the configuration
// and the sums are those of the version written last. Run it in the root folder of the sources.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

func main() {
	if err := releaseByFlags(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func releaseByFlags() error {
	version := flag.String("version", "", "version to release, for example v0.1.0; its release series must be in templates/metadata.yaml")
	output := flag.String("output", "out", "folder to write to")
	programs := flag.String("programs", "", "folder with the programs of the images, as `make release` fills it; without it, no images are made")
	architectures := flag.String("architectures", "amd64 arm64", "architectures of the images, separated by spaces")
	nodes := flag.String("node-versions", "", "Kubernetes versions that nodes have an image with, separated by spaces")
	flag.Parse()
	return run(release{sources: ".", version: *version, output: *output, images: images{
		programs: *programs, architectures: strings.Fields(*architectures), nodes: strings.Fields(*nodes),
	}})
}

// release says what to write where.
type release struct {
	// sources is the root folder of the sources.
	sources string
	// version, for example v0.1.0.
	version string
	// output is the folder to write to.
	output string
	// images to make.
	images images
}

// run writes a version of the sources. Nothing is written if any of it cannot be made.
func run(r release) error {
	if err := checkVersion(r.version, templates.Metadata); err != nil {
		return err
	}
	root, err := filepath.Abs(r.output)
	if err != nil {
		return err
	}
	published, err := build(r.sources, r.version)
	if err != nil {
		return err
	}
	if r.images.programs != "" {
		if err := r.images.add(published, r.version); err != nil {
			return err
		}
	}
	configuration, err := clusterctlConfiguration(root, r.version)
	if err != nil {
		return err
	}
	if err := removeOld(root, r.version); err != nil {
		return err
	}
	bound := repository.Files{sumsFile: sums(published), configurationFile: configuration}
	for _, files := range []repository.Files{published, bound} {
		if err := files.Write(root); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes what an earlier run has written for the version, which may hold files that this run does not write.
func removeOld(root, version string) error {
	for _, provider := range providers {
		dir := filepath.Join(root, filepath.FromSlash(provider.at(version).Dir()))
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the earlier build: %w", err)
		}
	}
	for _, pattern := range []string{"images/*-" + version + ".tar", "sbom/*-" + version + "-*.json"} {
		old, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return fmt.Errorf("remove the earlier build: %w", err)
		}
		for _, file := range old {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove the earlier build: %w", err)
			}
		}
	}
	return nil
}
