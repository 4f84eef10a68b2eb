/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const (
	// sourceAddress is where the sources are published.
	sourceAddress = "https://github.com/capfoo/cluster-api-provider-foo"
	// imageRepository is where images are published, without name and tag.
	imageRepository = "ghcr.io/capfoo/cluster-api-provider-foo/"
)

// architectures that images are made for, as Go names them.
var architectures = []string{"amd64", "arm64"}

// Programs that are released as an image each.
const (
	managerProgram   = "manager"
	extensionProgram = "runtime-extension"
)

var imaged = []string{managerProgram, extensionProgram}

// built is a program for one architecture.
type built struct {
	name, architecture string
	content            []byte
}

// addPrograms adds the images of the programs in a folder, <folder>/<architecture>/<name>, and what each program is made of.
func addPrograms(files repository.Files, folder, version string) error {
	for _, name := range imaged {
		made := image.Image{
			Name: name, Reference: imageRepository + name + ":" + version, Version: version, Source: sourceAddress,
			Programs: map[string][]byte{},
		}
		for _, architecture := range architectures {
			content, err := os.ReadFile(filepath.Join(folder, architecture, name))
			if err != nil {
				return fmt.Errorf("read the program of an image (make release builds it): %w", err)
			}
			made.Programs[architecture] = content
			bill, err := billOfMaterials(built{name: name, architecture: architecture, content: content}, version)
			if err != nil {
				return err
			}
			files[fmt.Sprintf("sbom/%s-%s-%s.cdx.json", name, version, architecture)] = bill
		}
		archive, err := made.Archive()
		if err != nil {
			return err
		}
		files[fmt.Sprintf("images/%s-%s.tar", name, version)] = archive
	}
	return nil
}
