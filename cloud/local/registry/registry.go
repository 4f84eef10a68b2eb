// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"golang.org/x/time/rate"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

const (
	kindImage = "container image"
	wantName  = "; use a name such as registry.example/app:v1"
	// nameAnnotation holds the full name of an image in an index, as containerd and Docker write
	// it.
	nameAnnotation = "io.containerd.image.name"
	// referenceAnnotation holds the name of an image, or only its tag.
	referenceAnnotation = "org.opencontainers.image.ref.name"

	indexFile = "index.json"
	algorithm = "sha256"
	// partial is the name prefix of files that are not complete yet.
	partial    = "new-"
	folderMode = 0o700
)

// Options configures a Registry.
type Options struct {
	// Folder is the folder of the images. Open creates it if it does not exist.
	Folder string
	// Network is the address range that may pull.
	Network netip.Prefix
	// Upstream carries requests to other registries. If nil, they use the host's network.
	Upstream http.RoundTripper
}

// Registry stores images, and is the HTTP handler that serves them.
type Registry struct {
	network  netip.Prefix
	upstream http.RoundTripper
	layout   layout.Path
	// changing is held while images are added or removed. Readers need no lock, because files
	// appear and vanish atomically.
	changing sync.Mutex
	// failures limits how often a failed fetch is logged.
	failures rate.Sometimes
}

// Open opens the folder of the images. It removes what an interrupted load left behind.
func Open(options Options) (*Registry, error) {
	r := &Registry{
		network: options.Network, upstream: options.Upstream, layout: layout.Path(options.Folder),
		failures: rate.Sometimes{First: loggedFailures, Interval: loggedInterval},
	}
	if r.upstream == nil {
		r.upstream = newTransport(options.Network)
	}
	if err := os.MkdirAll(r.blob(v1.Hash{}), folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the images: %w", err)
	}
	if info, err := os.Stat(r.path(indexFile)); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		if _, err := layout.Write(options.Folder, empty.Index); err != nil {
			return nil, fmt.Errorf("make the folder of the images: %w", err)
		}
		// A power failure may empty what is not on disk yet. This writes it to disk.
		if err := r.change(func(map[string]v1.Descriptor) error { return nil }); err != nil {
			return nil, err
		}
	}
	left, err := filepath.Glob(r.path(partial + "*"))
	if err != nil {
		return nil, fmt.Errorf("read the folder of the images: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove what is left of a load: %w", err)
		}
	}
	return r, r.collect()
}

func (r *Registry) path(name string) string { return filepath.Join(string(r.layout), name) }

// blob returns the path of a blob, or the folder of all blobs for the zero hash.
func (r *Registry) blob(hash v1.Hash) string {
	return r.path(filepath.Join("blobs", algorithm, hash.Hex))
}

// index returns the images by name.
func (r *Registry) index() (map[string]v1.Descriptor, error) {
	index, err := r.layout.ImageIndex()
	if err != nil {
		return nil, fmt.Errorf("read the list of images: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the list of images: %w", err)
	}
	images := map[string]v1.Descriptor{}
	for _, image := range manifest.Manifests {
		images[image.Annotations[nameAnnotation]] = image
	}
	return images, nil
}

// change changes the list of images atomically, or not at all if do returns an error.
func (r *Registry) change(do func(images map[string]v1.Descriptor) error) error {
	images, err := r.index()
	if err != nil {
		return err
	}
	if err := do(images); err != nil {
		return err
	}
	manifest, err := empty.Index.IndexManifest()
	if err != nil {
		return fmt.Errorf("write the list of images: %w", err)
	}
	changed := *manifest
	changed.Manifests = []v1.Descriptor{}
	for name, image := range images {
		image.Annotations = map[string]string{nameAnnotation: name}
		changed.Manifests = append(changed.Manifests, image)
	}
	slices.SortFunc(changed.Manifests, func(a, b v1.Descriptor) int {
		return cmp.Compare(a.Annotations[nameAnnotation], b.Annotations[nameAnnotation])
	})
	text, err := json.MarshalIndent(changed, "", "  ")
	if err != nil {
		return fmt.Errorf("write the list of images: %w", err)
	}
	_, err = r.write(strings.NewReader(string(text)), func(v1.Hash) string { return r.path(indexFile) })
	return err
}

// List returns the images, sorted by name.
func (r *Registry) List() ([]api.ContainerImage, error) {
	images, err := r.index()
	if err != nil {
		return nil, err
	}
	list := make([]api.ContainerImage, 0, len(images))
	for name, image := range images {
		list = append(list, r.view(name, image))
	}
	slices.SortFunc(list, func(a, b api.ContainerImage) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (r *Registry) view(name string, image v1.Descriptor) api.ContainerImage {
	view := api.ContainerImage{Name: name, Digest: image.Digest.String()}
	for _, size := range r.contents(image).blobs {
		view.SizeBytes += size
	}
	return view
}

// Delete deletes an image by its name. Instances that have pulled it keep it.
func (r *Registry) Delete(name string) error {
	whole, err := parseName(name)
	if err != nil {
		return err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	err = r.change(func(images map[string]v1.Descriptor) error {
		if _, found := images[whole]; !found {
			return &cloud.NotFoundError{Kind: kindImage, Name: whole}
		}
		delete(images, whole)
		return nil
	})
	if err != nil {
		return err
	}
	return r.collect()
}

// collect removes the blobs that belong to no image.
func (r *Registry) collect() error {
	images, err := r.index()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, image := range images {
		for hash := range r.contents(image).blobs {
			used[hash.Hex] = true
		}
	}
	entries, err := os.ReadDir(r.blob(v1.Hash{}))
	if err != nil {
		return fmt.Errorf("read the folder of the images: %w", err)
	}
	for _, entry := range entries {
		if used[entry.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(r.blob(v1.Hash{}), entry.Name())); err != nil {
			return fmt.Errorf("remove a part of an image that is gone: %w", err)
		}
	}
	return nil
}

// parseName returns the full name of an image, with registry and tag, in the form that containerd
// uses.
func parseName(text string) (string, error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return "", &cloud.InvalidError{Field: "name", Value: text, Problem: err.Error() + wantName}
	}
	if _, digested := named.(reference.Digested); digested {
		return "", &cloud.InvalidError{Field: "name", Value: text, Problem: "has a digest" + wantName}
	}
	return reference.TagNameOnly(named).String(), nil
}
