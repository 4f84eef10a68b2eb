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

// Package image makes container images of one static program each, without a container runtime: the program, certificate
// authorities, and a user that is not root, on nothing. The same program gives the same bytes on every machine: the
// certificate authorities are those of a Go module, and no file has a time.
//
// Limits: Linux only; a program gets no shell, no libraries and no time zones.
package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one that distributions of Kubernetes programs use: not root, and with a number, so that a kubelet can see that.
const user = "65532:65532"

// Image says what to make.
type Image struct {
	// Name of the program, which is the entry point: /<name>.
	Name string
	// Reference is the full name of the image with its tag, which a container runtime that imports it gives it.
	Reference string
	// Version of the program, for the image's labels.
	Version string
	// Source is the address of the sources, for the image's labels.
	Source string
	// Programs by architecture, as Go names it: what is in the files.
	Programs map[string][]byte
}

// build returns the image of one architecture.
func (i Image) build(architecture string) (v1.Image, error) {
	content, err := layer(i.Name, i.Programs[architecture])
	if err != nil {
		return nil, err
	}
	files, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("image %s, %s: %w", i.Name, architecture, err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	filled, err := mutate.AppendLayers(base, files)
	if err != nil {
		return nil, fmt.Errorf("image %s, %s: %w", i.Name, architecture, err)
	}
	file, err := filled.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("image %s, %s: %w", i.Name, architecture, err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", architecture
	file.Config = v1.Config{
		User: user, Entrypoint: []string{"/" + i.Name}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.source":  i.Source,
			"org.opencontainers.image.title":   i.Name,
			"org.opencontainers.image.version": i.Version,
		},
	}
	return mutate.ConfigFile(filled, file)
}

// layer returns the files of an image.
func layer(name string, program []byte) ([]byte, error) {
	var content bytes.Buffer
	writer := tar.NewWriter(&content)
	for _, file := range []struct {
		path string
		mode int64
		text []byte
	}{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()},
		{name, 0o755, program},
		{"tmp/", 0o1777, nil},
	} {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.path, Mode: file.mode, Size: int64(len(file.text))}
		if file.text == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("image %s: %s: %w", name, file.path, err)
		}
		if _, err := writer.Write(file.text); err != nil {
			return nil, fmt.Errorf("image %s: %s: %w", name, file.path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("image %s: %w", name, err)
	}
	return content.Bytes(), nil
}

// authorities returns the certificate authorities that Mozilla trusts, as the module in go.mod has them.
func authorities() []byte {
	var content []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			content = append(content, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return content
}
