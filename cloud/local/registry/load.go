// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	partialimage "github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

const (
	dockerFile = "manifest.json"
	blobPrefix = "blobs/" + algorithm + "/"
	// maxFiles is how many files an archive may contain.
	maxFiles = 100_000
)

func invalidArchive(problem string) error {
	return &cloud.InvalidError{
		Field: "archive", Value: "…",
		Problem: problem + "; it must be a tar file, also compressed with gzip, of `docker save`, or an OCI image layout in one",
	}
}

// Load adds the images of an archive, all or none, and returns them. They replace existing images
// of the same names. A non-empty name names the archive's only image; it overrides the name in the
// archive.
func (r *Registry) Load(archive io.Reader, name string) ([]api.ContainerImage, error) {
	if name != "" {
		var err error
		if name, err = parseName(name); err != nil {
			return nil, err
		}
	}
	file, err := r.spool(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file) }()
	r.changing.Lock()
	defer r.changing.Unlock()
	found, err := r.add(file, name)
	if err == nil {
		err = r.change(func(images map[string]v1.Descriptor) error {
			for _, image := range found {
				images[image.name] = image.Descriptor
			}
			return nil
		})
	}
	if err = errors.Join(err, r.collect()); err != nil {
		return nil, err
	}
	list := make([]api.ContainerImage, 0, len(found))
	for _, image := range found {
		list = append(list, r.view(image.name, image.Descriptor))
	}
	return list, nil
}

// spool saves an archive to a file, because the meaning of its first entries may depend on its
// last.
func (r *Registry) spool(archive io.Reader) (string, error) {
	buffered := bufio.NewReader(archive)
	content := io.Reader(buffered)
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return "", invalidArchive(err.Error())
		}
		content = unpacked
	}
	file, err := os.CreateTemp(string(r.layout), partial)
	if err != nil {
		return "", fmt.Errorf("keep the archive: %w", err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		// The sender reads the response only after it has sent everything.
		_, _ = io.Copy(io.Discard, archive)
		return "", errors.Join(fmt.Errorf("keep the archive: %w", err), os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// named is an image with its name.
type named struct {
	v1.Descriptor
	name string
}

// add adds the blobs of an archive, and returns its images after checking that they are complete
// and have names.
func (r *Registry) add(file, name string) ([]named, error) {
	var index, docker bool
	err := walkArchive(file, func(entry string, _ io.Reader) error {
		index, docker = index || entry == indexFile, docker || entry == dockerFile
		return nil
	})
	if err != nil {
		return nil, invalidArchive("is no archive: " + err.Error())
	}
	var found []named
	switch {
	case index:
		found, err = r.addLayout(file)
	case docker:
		found, err = r.addDocker(file)
	default:
		err = invalidArchive(fmt.Sprintf("holds no images: neither %s nor %s is in it", indexFile, dockerFile))
	}
	if err == nil {
		err = r.checkAll(found, name)
	}
	return found, err
}

// checkAll sets the images' full names. It returns an error if an image is incomplete or has no
// name.
func (r *Registry) checkAll(found []named, name string) error {
	if name != "" && len(found) != 1 {
		problem := fmt.Sprintf("is for an archive of one image, and this one has %d", len(found))
		return &cloud.InvalidError{Field: "name", Value: name, Problem: problem}
	}
	for i := range found {
		image := &found[i]
		image.name = cmp.Or(name, image.name)
		if image.name == "" {
			problem := fmt.Sprintf("the archive does not name image %s: give it a name with --name", image.Digest)
			return &cloud.InvalidError{Field: "name", Problem: problem}
		}
		var err error
		if image.name, err = parseName(image.name); err != nil {
			return err
		}
		if err := r.check(image.name, image.Descriptor); err != nil {
			return err
		}
	}
	return nil
}

// walkArchive visits the regular files of an archive.
func walkArchive(file string, visit func(name string, content io.Reader) error) error {
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	archive := tar.NewReader(opened)
	for range maxFiles {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := visit(path.Clean(header.Name), archive); err != nil {
			return err
		}
	}
	return fmt.Errorf("it holds more than %d files", maxFiles)
}

// addLayout adds the blobs of an archive in OCI image layout.
func (r *Registry) addLayout(file string) ([]named, error) {
	var index v1.IndexManifest
	err := walkArchive(file, func(entry string, content io.Reader) error {
		if entry == indexFile {
			if err := decode(content, &index); err != nil {
				return invalidArchive(indexFile + ": " + err.Error())
			}
		}
		wanted, isBlob := strings.CutPrefix(entry, blobPrefix)
		if !isBlob {
			return nil
		}
		got, err := r.writeBlob(content)
		if err == nil && got.Hex != wanted {
			err = invalidArchive(fmt.Sprintf("is damaged: file %s has the hash %s", entry, got.Hex))
		}
		return err
	})
	found := make([]named, 0, len(index.Manifests))
	for _, image := range index.Manifests {
		name := image.Annotations[nameAnnotation]
		// A tag alone is not a name.
		if other := image.Annotations[referenceAnnotation]; name == "" && strings.ContainsAny(other, ":/") {
			name = other
		}
		found = append(found, named{v1.Descriptor{MediaType: image.MediaType, Size: image.Size, Digest: image.Digest}, name})
	}
	return found, err
}

// addDocker adds the blobs of an archive that `docker save` wrote.
func (r *Registry) addDocker(file string) ([]named, error) {
	open := func() (io.ReadCloser, error) { return os.Open(file) }
	var list tarball.Manifest
	small := map[string]bool{}
	err := walkArchive(file, func(entry string, content io.Reader) error {
		if entry == dockerFile {
			return decode(content, &list)
		}
		count, err := io.Copy(io.Discard, io.LimitReader(content, maxDocument+1))
		small[entry] = count <= maxDocument
		return err
	})
	if err != nil {
		return nil, invalidArchive(dockerFile + ": " + err.Error())
	}
	var found []named
	for _, one := range list {
		if !small[path.Clean(one.Config)] {
			problem := fmt.Sprintf("is not whole: the configuration %q is missing, or larger than %d bytes", one.Config, maxDocument)
			return nil, invalidArchive(problem)
		}
		tag, err := choice(list, one)
		if err != nil {
			return nil, err
		}
		image, err := tarball.Image(open, tag)
		if err != nil {
			return nil, invalidArchive(err.Error())
		}
		descriptor, err := r.addImage(image)
		if err != nil {
			return nil, err
		}
		if len(one.RepoTags) == 0 {
			found = append(found, named{Descriptor: *descriptor})
		}
		for _, tag := range one.RepoTags {
			found = append(found, named{*descriptor, tag})
		}
	}
	return found, nil
}

// choice returns the tag that selects an image from an archive; nil if the archive holds only one.
func choice(list tarball.Manifest, one tarball.Descriptor) (*name.Tag, error) {
	if len(list) == 1 {
		return nil, nil
	}
	if len(one.RepoTags) == 0 {
		return nil, &cloud.InvalidError{Field: "name", Problem: "the archive has several images, and does not name all of them"}
	}
	tag, err := name.NewTag(one.RepoTags[0])
	if err != nil {
		return nil, invalidArchive(err.Error())
	}
	return &tag, nil
}

// addImage adds the blobs of an image one by one, because compressing a layer takes memory.
func (r *Registry) addImage(image v1.Image) (*v1.Descriptor, error) {
	layers, err := image.Layers()
	if err != nil {
		return nil, invalidArchive(err.Error())
	}
	for _, layer := range layers {
		content, err := layer.Compressed()
		if err != nil {
			return nil, invalidArchive(err.Error())
		}
		_, err = r.writeBlob(content)
		if err = errors.Join(err, content.Close()); err != nil {
			return nil, err
		}
	}
	for _, document := range []func() ([]byte, error){image.RawConfigFile, image.RawManifest} {
		text, err := document()
		if err != nil {
			return nil, invalidArchive(err.Error())
		}
		if _, err := r.writeBlob(bytes.NewReader(text)); err != nil {
			return nil, err
		}
	}
	return partialimage.Descriptor(image)
}

func (r *Registry) writeBlob(content io.Reader) (v1.Hash, error) {
	return r.write(content, r.blob)
}

// write writes a file atomically. It gives the file its name, which may depend on the content's
// hash, once the content is complete and on disk.
func (r *Registry) write(content io.Reader, path func(v1.Hash) string) (v1.Hash, error) {
	file, err := os.CreateTemp(string(r.layout), partial)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write a part of an image: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), content)
	err = errors.Join(err, file.Sync(), file.Close())
	hash := v1.Hash{Algorithm: algorithm, Hex: hex.EncodeToString(sum.Sum(nil))}
	if err == nil {
		err = os.Rename(file.Name(), path(hash))
	}
	if err != nil {
		return hash, fmt.Errorf("write a part of an image: %w", err)
	}
	return hash, nil
}
