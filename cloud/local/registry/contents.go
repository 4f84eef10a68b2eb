// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	// maxDocument is the maximum size in bytes of a manifest, configuration or index that is read.
	maxDocument = 4 << 20
	// maxNesting is how deep image indexes may be nested.
	maxNesting = 3
)

// platform is the platform that instances run.
var platform = "linux/" + runtime.GOARCH

// manifest is the manifest of an image, or an index of images for several platforms.
type manifest struct {
	MediaType types.MediaType `json:"mediaType"`
	Config    *v1.Descriptor  `json:"config"`
	Layers    []v1.Descriptor `json:"layers"`
	Manifests []v1.Descriptor `json:"manifests"`
}

// kind returns the media type, which the manifest may omit, or "" if it is not a manifest.
func (m manifest) kind() types.MediaType {
	switch {
	case m.Config == nil && m.Manifests == nil:
		return ""
	case m.MediaType != "":
		return m.MediaType
	case m.Config != nil:
		return types.OCIManifestSchema1
	default:
		return types.OCIImageIndex
	}
}

// contents describes what an image consists of.
type contents struct {
	// blobs maps the blobs that are stored here to their sizes.
	blobs map[v1.Hash]int64
	// platforms maps each platform that the image supports to the problem with its image; nil if
	// that is complete.
	platforms map[string]error
}

// offer records an image for a platform. A complete image takes precedence over others.
func (c contents) offer(platform string, lack error) {
	if before, known := c.platforms[platform]; !known || before != nil {
		c.platforms[platform] = lack
	}
}

// contents reads what an image consists of, as far as it is stored here.
func (r *Registry) contents(image v1.Descriptor) contents {
	c := contents{blobs: map[v1.Hash]int64{}, platforms: map[string]error{}}
	r.walk(c, image, maxNesting)
	return c
}

func (r *Registry) walk(c contents, image v1.Descriptor, nesting int) {
	var m manifest
	err := r.document(image.Digest, &m)
	if err == nil && (m.kind() == "" || nesting == 0) {
		err = errors.New("is no image")
	}
	if err != nil {
		of := ""
		if image.Platform != nil {
			of = image.Platform.OS + "/" + image.Platform.Architecture
		}
		c.offer(of, fmt.Errorf("manifest %s: %w", image.Digest, err))
		return
	}
	c.blobs[image.Digest] = r.size(image.Digest)
	if m.Config != nil {
		c.offer(r.parts(c, m))
		return
	}
	for _, child := range m.Manifests {
		r.walk(c, child, nesting-1)
	}
}

// parts adds an image's blobs that are stored here. It returns the image's platform, and an error
// if a blob is missing.
func (r *Registry) parts(c contents, m manifest) (string, error) {
	var missing error
	for _, part := range append([]v1.Descriptor{*m.Config}, m.Layers...) {
		if size := r.size(part.Digest); size >= 0 {
			c.blobs[part.Digest] = size
		} else if part.MediaType.IsDistributable() {
			missing = fmt.Errorf("%s is missing", part.Digest)
		}
	}
	var config struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	}
	if err := r.document(m.Config.Digest, &config); err != nil {
		return "", fmt.Errorf("configuration %s: %w", m.Config.Digest, err)
	}
	return config.OS + "/" + config.Architecture, missing
}

// size returns the size of a blob, or -1 if it is not stored here.
func (r *Registry) size(hash v1.Hash) int64 {
	if info, err := os.Stat(r.blob(hash)); err == nil && info.Mode().IsRegular() && hash.Algorithm == algorithm {
		return info.Size()
	}
	return -1
}

// document decodes a JSON blob.
func (r *Registry) document(hash v1.Hash, into any) error {
	if hash.Algorithm != algorithm {
		return fmt.Errorf("has a hash of the kind %q, but needs %q", hash.Algorithm, algorithm)
	}
	file, err := os.Open(r.blob(hash))
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("is missing")
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return decode(file, into)
}

func decode(from io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(from, maxDocument+1))
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return fmt.Errorf("is larger than %d bytes", maxDocument)
	}
	return json.Unmarshal(text, into)
}

// check returns an InvalidError that describes why instances cannot run an image.
func (r *Registry) check(name string, image v1.Descriptor) error {
	c := r.contents(image)
	lack, offered := c.platforms[platform]
	if offered && lack == nil {
		return nil
	}
	invalid := &cloud.InvalidError{Field: "archive", Value: name}
	if whole, ok := c.platforms[""]; ok && !offered {
		lack, offered = whole, true
	}
	if offered {
		invalid.Problem = "is not whole: " + lack.Error()
		return invalid
	}
	others := make([]string, 0, len(c.platforms))
	for other := range c.platforms {
		others = append(others, other)
	}
	slices.Sort(others)
	invalid.Problem, invalid.Allowed = fmt.Sprintf("is for %q, which instances cannot run", others), []string{platform}
	return invalid
}
