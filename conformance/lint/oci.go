// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
}

// loadOCI reads an OCI layout with artifacts that clusterctl can install: each file is a layer
// with its name as title. Several tags may name one artifact.
func loadOCI(dir string) ([]*Release, error) {
	var index struct{ Manifests []descriptor }
	if err := readJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	var releases []*Release
	read := map[string]bool{}
	for _, reference := range index.Manifests {
		if read[reference.Digest] {
			continue
		}
		read[reference.Digest] = true
		release, err := loadArtifact(dir, reference)
		if err != nil {
			return nil, err
		}
		if len(release.Files) > 0 {
			releases = append(releases, newReleases(release)...)
		}
	}
	if len(releases) == 0 {
		return nil, errors.New("no layer has the title of a manifest, such as infrastructure-components.yaml")
	}
	return releases, nil
}

func loadArtifact(dir string, reference descriptor) (*Release, error) {
	var manifest struct{ Layers []descriptor }
	if err := readJSON(blob(dir, reference), &manifest); err != nil {
		return nil, err
	}
	release := &Release{Dir: dir, Folder: true}
	for _, layer := range manifest.Layers {
		title := layer.Annotations["org.opencontainers.image.title"]
		if extension := filepath.Ext(title); extension != ".yaml" && extension != ".yml" {
			continue
		}
		data, err := readFile(blob(dir, layer))
		if err != nil {
			return nil, err
		}
		if file := newFile(filepath.Join(dir, title), data); file.Type != Other {
			release.Files = append(release.Files, file)
		}
	}
	return release, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func blob(dir string, of descriptor) string {
	algorithm, digest, _ := strings.Cut(of.Digest, ":")
	return filepath.Join(dir, "blobs", filepath.Base(algorithm), filepath.Base(digest))
}
