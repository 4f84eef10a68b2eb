// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
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

// Archive returns the image, for all architectures, as an OCI image layout in a tar file. Container
// runtimes import it: ctr images import, podman load, kind load image-archive.
func (i Image) Archive() ([]byte, error) {
	var content bytes.Buffer
	err := Write(&content, i)
	return content.Bytes(), err
}

// Write writes images as one OCI image layout in a tar file; see Archive.
func Write(to io.Writer, images ...Image) error {
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("begin an archive of images: %w", err)
	}
	for _, image := range images {
		index, err := image.index()
		if err != nil {
			return err
		}
		names := map[string]string{nameAnnotation: image.Reference, referenceAnnotation: image.Version}
		if err := path.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
			return fmt.Errorf("image %s: %w", image.Title, err)
		}
	}
	return packFolder(to, os.DirFS(folder))
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

// packFolder writes the files of a folder as a tar file, in the order of their names and without
// times and owners.
func packFolder(to io.Writer, folder fs.FS) error {
	writer := tar.NewWriter(to)
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
	if err := errors.Join(err, writer.Close()); err != nil {
		return fmt.Errorf("pack an archive of images: %w", err)
	}
	return nil
}
