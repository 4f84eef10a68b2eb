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

package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations by which container runtimes find the name of an image that they import.
const (
	nameAnnotation      = "io.containerd.image.name"
	referenceAnnotation = "org.opencontainers.image.ref.name"
)

// Archive returns the image, for all architectures, as an OCI image layout in a tar file. Container runtimes import it:
// ctr images import, podman load, kind load image-archive.
func (i Image) Archive() ([]byte, error) {
	index, err := i.index()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Title, err)
	}
	names := map[string]string{nameAnnotation: i.Reference, referenceAnnotation: i.Version}
	if err := path.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Title, err)
	}
	return pack(os.DirFS(folder))
}

// index returns the images of all architectures as one.
func (i Image) index() (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range slices.Sorted(maps.Keys(i.Layers)) {
		image, err := i.build(architecture)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	return index, nil
}

// pack returns the files of a folder as a tar file, in the order of their names and without times and owners.
func pack(folder fs.FS) ([]byte, error) {
	var content bytes.Buffer
	writer := tar.NewWriter(&content)
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(file))}); err != nil {
			return err
		}
		_, err = writer.Write(file)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack the image: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack the image: %w", err)
	}
	return content.Bytes(), nil
}
