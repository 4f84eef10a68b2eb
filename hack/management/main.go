// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command management adds to a release of Foo in a folder what else a management cluster consists
// of: cert-manager, Cluster API's core and the kubeadm bootstrap provider, as in a clusterctl
// repository, and their images. All of it is built from modules, so nothing is downloaded when a
// management cluster is made. Images have the names of the published ones, and the same programs.
//
// Limits: images are for this machine's architecture only. Run it in the root folder.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// part is what a folder of a clusterctl repository holds, and its images.
type part struct {
	// folder in the repository, and files in it. The first one names the images.
	folder, version string
	files           []string
	// from is the folder of the files, in the folder of built programs.
	from string
	// registry of the images, and programs in the folder of built programs by the names of their images.
	registry string
	programs map[string]string
	// unreleased has what the sources say, and what a release says instead.
	unreleased *strings.Replacer
}

// clusterAPI returns a provider of Cluster API, whose release does the same replacements.
func clusterAPI(folder, file, version, name, program string) part {
	const registry = "registry.k8s.io/cluster-api/"
	return part{
		folder: folder, version: version, files: []string{file, repository.MetadataFile}, from: path.Join("manifests", folder),
		registry: registry, programs: map[string]string{name: program},
		unreleased: strings.NewReplacer("gcr.io/k8s-staging-cluster-api/"+name+":main", registry+name+":"+version,
			"imagePullPolicy: Always", "imagePullPolicy: IfNotPresent"),
	}
}

func certManager(version string) part {
	return part{
		folder: "cert-manager", version: version, files: []string{"cert-manager.yaml"}, from: "cert-manager",
		registry: "quay.io/jetstack/", programs: map[string]string{
			"cert-manager-controller": "cert-manager/controller",
			"cert-manager-webhook":    "cert-manager/webhook",
			"cert-manager-cainjector": "cert-manager/cainjector",
		},
		unreleased: strings.NewReplacer(),
	}
}

func main() {
	bin := flag.String("bin", "bin", "folder of the built programs and manifests")
	output := flag.String("output", "bin/management", "folder of the release")
	clusterAPIVersion := flag.String("cluster-api", "", "version of Cluster API")
	certManagerVersion := flag.String("cert-manager", "", "version of cert-manager")
	flag.Parse()
	if err := run(*bin, *output, []part{
		clusterAPI("cluster-api", "core-components.yaml", *clusterAPIVersion, "cluster-api-controller", "tools/core"),
		clusterAPI("bootstrap-kubeadm", "bootstrap-components.yaml", *clusterAPIVersion, "kubeadm-bootstrap-controller", "tools/kubeadm-bootstrap"),
		certManager(*certManagerVersion),
	}); err != nil {
		fmt.Fprintln(os.Stderr, "management:", err)
		os.Exit(1)
	}
}

func run(bin, output string, parts []part) error {
	files := repository.Files{}
	var images []image.Image
	for _, one := range parts {
		if err := one.read(bin, files); err != nil {
			return err
		}
		made, err := one.images(bin, files)
		if err != nil {
			return err
		}
		images = append(images, made...)
	}
	var archive bytes.Buffer
	if err := image.Write(&archive, images...); err != nil {
		return err
	}
	files["images/management.tar"] = archive.Bytes()
	return files.Write(output)
}

func (p part) path(file string) string { return path.Join(p.folder, p.version, file) }

// read adds the files.
func (p part) read(bin string, files repository.Files) error {
	for _, name := range p.files {
		content, err := os.ReadFile(filepath.Join(bin, p.from, name))
		if err != nil {
			return err
		}
		files[p.path(name)] = []byte(p.unreleased.Replace(string(content)))
	}
	return nil
}

// images returns the images, all of which the files must name.
func (p part) images(bin string, files repository.Files) ([]image.Image, error) {
	release := image.Release{Repository: p.registry, Version: p.version, Source: "https://github.com/capfoo/cluster-api-provider-foo"}
	images := make([]image.Image, 0, len(p.programs))
	for name, program := range p.programs {
		made := image.Service(release, name, map[string]string{runtime.GOARCH: filepath.Join(bin, program)})
		if !bytes.Contains(files[p.path(p.files[0])], []byte(made.Reference)) {
			return nil, fmt.Errorf("%s does not name the image %s", p.path(p.files[0]), made.Reference)
		}
		// Manifests of Cluster API name the program by its path.
		layer := made.Layers[runtime.GOARCH][0]
		layer.Files = append(layer.Files, image.Link("manager", name))
		images = append(images, made)
	}
	return images, nil
}
