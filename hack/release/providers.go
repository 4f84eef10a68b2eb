// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// namedImage matches the image of a container in a manifest: its repository, name and tag.
var namedImage = regexp.MustCompile(`(?m)^\s*image: "?(\S+/)([^/\s"]+):([^:\s"]+)"?$`)

// addProviders adds what else a management cluster consists of, as hack/build-providers.sh laid it
// out: the manifests, and an archive with each image that they name.
func (i images) addProviders(files repository.Files) error {
	folder := os.DirFS(filepath.Join(i.programs, i.architectures[0], "providers", "repository"))
	var made []image.Image
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		files[name] = content
		for _, named := range namedImage.FindAllStringSubmatch(string(content), -1) {
			made = append(made, i.provider(named[1], named[2], named[3]))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the other providers (make management or make release builds them): %w", err)
	}
	var archive bytes.Buffer
	if err := image.Write(&archive, made...); err != nil {
		return err
	}
	files["images/providers.tar"] = archive.Bytes()
	return nil
}

// provider returns the image of a provider's manager.
func (i images) provider(registry, name, tag string) image.Image {
	programs := map[string]string{}
	for _, architecture := range i.architectures {
		programs[architecture] = filepath.Join(i.programs, architecture, "providers", "programs", name)
	}
	made := image.Service(image.Release{Repository: registry, Version: tag, Source: sourceAddress}, name, programs)
	for _, layers := range made.Layers {
		// Manifests of Cluster API name the program by its path.
		layers[0].Files = append(layers[0].Files, image.Link("manager", name))
	}
	return made
}
