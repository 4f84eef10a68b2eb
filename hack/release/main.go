// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release writes what a version of Foo publishes as a clusterctl repository in a folder,
// with a configuration that lets clusterctl use it from there without a network:
//
//	clusterctl generate cluster demo --config out/clusterctl.yaml --infrastructure foo:v0.1.0 ...
//
// The same sources and version give the same bytes, except for clusterctl.yaml, because clusterctl
// needs absolute paths. hack/sums.sh adds SHA256SUMS, which does not list it.
//
// Limits: other versions in the folder stay there, but the configuration is for the version written
// last. Run it in the root folder of the sources.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

func main() {
	var r release
	var architectures, nodes string
	flag.StringVar(&r.version, "version", "", "version to release, for example v0.1.0; its release series must be in metadata.yaml")
	flag.StringVar(&r.output, "output", "out", "folder to write to")
	flag.StringVar(&r.images.programs, "programs", "", "folder with the programs of the images, as `make release` fills it; without it, no images are made")
	flag.StringVar(&architectures, "architectures", "amd64 arm64", "architectures of the images, separated by spaces")
	flag.StringVar(&nodes, "node-versions", "", "Kubernetes versions that nodes have an image with, separated by spaces")
	flag.BoolVar(&r.images.archives, "archives", false, "also write the bill of materials of each architecture's archive, if nodes have images")
	flag.BoolVar(&r.images.providers, "providers", false, "also write the other providers of a management cluster, with their images")
	flag.Parse()
	r.sources, r.images.architectures, r.images.nodes = ".", strings.Fields(architectures), strings.Fields(nodes)
	if err := run(r); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release says what to write: a version of the sources in a folder, with images.
type release struct {
	sources, version, output string
	images                   images
}

// run writes a version of the sources. It writes nothing if any of it cannot be made.
func run(r release) error {
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
	all := make([]repository.Provider, 0, len(providers))
	for _, provider := range providers {
		all = append(all, provider.at(r.version))
	}
	configuration, err := yaml.Marshal(repository.Configuration(root, all...))
	if err != nil {
		return err
	}
	if err := removeOld(root, r.version); err != nil {
		return fmt.Errorf("remove the earlier build: %w", err)
	}
	published[configurationFile] = configuration
	return published.Write(root)
}

// removeOld removes what an earlier run wrote for the version.
func removeOld(root, version string) error {
	for _, pattern := range []string{"*-foo/" + version, "images/*-" + version + ".tar", "sbom/*-" + version + "-*", "packages/foo-" + version + "-linux-*"} {
		old, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}
