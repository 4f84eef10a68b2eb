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
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// release says what to write: a version of the sources in a folder, with images.
type release struct {
	sources, version, output string
	images                   images
}

func main() {
	log.SetFlags(0)
	r := release{sources: ".", images: images{manifests: "bin/manifests", architectures: architectures}}
	words := func(name, usage string, to *[]string) {
		flag.Func(name, usage+", separated by spaces", func(value string) error { *to = strings.Fields(value); return nil })
	}
	flag.StringVar(&r.version, "version", "", "version to release, for example v0.1.0; its release series must be in metadata.yaml")
	flag.StringVar(&r.output, "output", "out", "folder to write to")
	flag.StringVar(&r.images.programs, "programs", "", "folder with the programs of the images, as `make release` fills it; without it, no images are built")
	words("architectures", "architectures of the images, all by default", &r.images.architectures)
	words("node-versions", "Kubernetes versions that nodes have an image with", &r.images.nodes)
	words("providers", "also write these providers of a management cluster as name:version, with their images", &r.images.providers)
	flag.BoolVar(&r.images.archives, "archives", false, "also write the bill of materials of each architecture's archive, if nodes have images")
	flag.Parse()
	if err := run(r); err != nil {
		log.Fatalf("release: %v", err)
	}
}

// architectures are all that a release can have.
var architectures = []string{"amd64", "arm64"}

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
	if published[configurationFile], err = yaml.Marshal(repository.Configuration(root, all...)); err != nil {
		return err
	}
	// A release candidate begins with the version that it is for.
	patterns := []string{"*-foo/" + r.version, "images/*-" + r.version + ".tar", "sbom/foo-" + r.version + "-linux-*", "packages/foo-" + r.version + "-linux-*"}
	for _, architecture := range architectures {
		patterns = append(patterns, "sbom/*-"+r.version+"-"+architecture+".*")
	}
	for _, pattern := range patterns {
		old, err := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range old {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return fmt.Errorf("remove the earlier build: %w", err)
		}
	}
	return published.Write(root)
}
