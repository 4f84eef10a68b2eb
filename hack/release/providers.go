// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

var (
	// namedImage matches the image of a container in a manifest: its repository, name and tag.
	namedImage = regexp.MustCompile(`(?m)^\s*image: "?(\S+/)([^/\s"]+):([^:\s"]+)"?$`)
	// stagedImage matches an image of Cluster API in its sources.
	stagedImage = regexp.MustCompile(`gcr\.io/k8s-staging-cluster-api/(\S+):main`)
	// programOf has the program of an image of Cluster API. Those of cert-manager are named alike.
	programOf = map[string]string{
		"cluster-api-controller": "tools/core", "kubeadm-bootstrap-controller": "tools/kubeadm-bootstrap",
		"kubeadm-control-plane-controller": "tools/kubeadm-control-plane", "test-extension": "tools/test-extension",
	}
)

// addProviders adds what else a management cluster consists of: the manifests, and an archive with
// each image that they name.
func (i images) addProviders(files repository.Files) error {
	var made []image.Image
	for _, provider := range i.providers {
		name, version, _ := strings.Cut(provider, ":")
		folder := filepath.Join(i.manifests, name)
		if name == "cert-manager" {
			folder = i.file(i.architectures[0], name) // its manifest is built with its programs
		}
		paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil || len(paths) == 0 || version == "" {
			return fmt.Errorf("provider %q: want a name and version, and manifests in %s, which make management or make release builds", provider, folder)
		}
		for _, file := range paths {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			// A release of Cluster API makes the same replacements.
			content = stagedImage.ReplaceAll(content, []byte("registry.k8s.io/cluster-api/$1:"+version))
			content = bytes.ReplaceAll(content, []byte("imagePullPolicy: Always"), []byte("imagePullPolicy: IfNotPresent"))
			files[path.Join(name, version, filepath.Base(file))] = content
			for _, named := range namedImage.FindAllStringSubmatch(string(content), -1) {
				made = append(made, i.provider(named[1], named[2], named[3]))
			}
		}
	}
	if len(made) == 0 {
		return nil
	}
	var archive bytes.Buffer
	err := image.Write(&archive, made...)
	files["images/providers.tar"] = archive.Bytes()
	return err
}

// provider returns the image of a provider's manager.
func (i images) provider(registry, name, tag string) image.Image {
	programs := map[string]string{}
	for _, architecture := range i.architectures {
		programs[architecture] = i.file(architecture, cmp.Or(programOf[name], "cert-manager/"+name))
	}
	made := image.Service(image.Release{Repository: registry, Version: tag, Source: sourceAddress}, name, programs)
	for _, layers := range made.Layers {
		// Manifests of Cluster API name the program by its path.
		layers[0].Files = append(layers[0].Files, image.Link("manager", name))
	}
	return made
}
