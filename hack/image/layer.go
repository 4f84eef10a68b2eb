// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
	"golang.org/x/sys/unix"
)

// File is one file, folder or link of a layer.
type File struct {
	// Path from the root, without a slash at either end.
	Path string
	// Kind is tar.TypeReg, tar.TypeDir, tar.TypeSymlink or tar.TypeLink.
	Kind byte
	// Mode holds the permissions, with the bits for set-user-ID, set-group-ID and sticky as chmod(2) has them.
	Mode int64
	// User and Group are the owner's numbers.
	User, Group int
	// Target of a link: for a hard link a Path, for a symbolic one what it says.
	Target string
	// Content of a regular file.
	Content []byte
	// Source is the file on this machine that has the content instead; optional. Files of a layer with the same source, or with
	// hard links to the same one, become hard links in the layer too.
	Source string
}

// Open opens the content of a regular file.
func (f File) Open() (Content, error) {
	if f.Source == "" {
		return inMemory{bytes.NewReader(f.Content)}, nil
	}
	return os.Open(f.Source)
}

// Content is that of an open file.
type Content interface {
	io.ReaderAt
	io.Closer
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// Folder returns a folder of root's.
func Folder(path string, mode int64) File { return File{Path: path, Kind: tar.TypeDir, Mode: mode} }

// Regular returns a regular file of root's.
func Regular(path string, mode int64, content []byte) File {
	return File{Path: path, Kind: tar.TypeReg, Mode: mode, Content: content}
}

// Link returns a symbolic link.
func Link(path, target string) File {
	return File{Path: path, Kind: tar.TypeSymlink, Mode: linkMode, Target: target}
}

const (
	folderMode  = 0o755
	fileMode    = 0o644
	programMode = 0o755
	// linkMode is what every symbolic link has; nothing asks for it.
	linkMode = 0o777
)

// Layer is what one layer of an image adds.
type Layer struct {
	// Content says what it holds; it stands in the image's history.
	Content string
	// Files in any order. Folders that are missing above them are made.
	Files []File
	// Plain layers are not compressed: they are read on the machine that makes them.
	Plain bool

	made v1.Layer
}

// build returns the layer for images. Those that have it share what the first of them has made.
func (l *Layer) build() (v1.Layer, error) {
	if l.made != nil {
		return l.made, nil
	}
	files, err := l.sorted()
	if err != nil {
		return nil, err
	}
	if l.Plain {
		var content bytes.Buffer
		if err := pack(&content, files); err != nil {
			return nil, err
		}
		l.made = static.NewLayer(content.Bytes(), types.OCIUncompressedLayer)
		return l.made, nil
	}
	l.made, err = tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { _ = writer.CloseWithError(pack(writer, files)) }()
		return reader, nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	return l.made, err
}

// pack writes files as a tar file, in their order and without times.
func pack(to io.Writer, files []File) error {
	packer := packer{Writer: tar.NewWriter(to), written: map[inode]string{}}
	for _, file := range files {
		if err := packer.add(file); err != nil {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	return packer.Close()
}

// packer writes the tar file of a layer.
type packer struct {
	*tar.Writer
	// written has the paths, in the layer, of files on this machine that are in it already.
	written map[inode]string
}

// inode identifies a file on this machine.
type inode struct{ device, number uint64 }

func (p *packer) add(file File) error {
	header := &tar.Header{
		Typeflag: file.Kind, Name: file.Path, Mode: file.Mode, Uid: file.User, Gid: file.Group,
		Size: int64(len(file.Content)), Linkname: file.Target,
	}
	switch {
	case file.Kind == tar.TypeDir:
		header.Name += "/"
	case file.Source != "":
		return p.addSource(header, file.Source)
	}
	if err := p.WriteHeader(header); err != nil {
		return err
	}
	_, err := p.Write(file.Content)
	return err
}

// addSource adds a file of this machine, or a link if the layer has it already.
func (p *packer) addSource(header *tar.Header, path string) error {
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	var stat unix.Stat_t
	if err := unix.Fstat(int(source.Fd()), &stat); err != nil {
		return err
	}
	of := inode{device: stat.Dev, number: stat.Ino}
	if first, found := p.written[of]; found {
		header.Typeflag, header.Linkname = tar.TypeLink, first
		return p.WriteHeader(header)
	}
	p.written[of] = header.Name
	header.Size = stat.Size
	if err := p.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(p, source)
	return err
}

// sorted returns the files in the order of their paths, so that each folder comes before what is in it.
func (l *Layer) sorted() ([]File, error) {
	byPath := map[string]File{}
	for _, file := range l.Files {
		if file.Path == "" || path.Clean("/"+file.Path) != "/"+file.Path {
			return nil, fmt.Errorf("the path %q is not below the root", file.Path)
		}
		if _, found := byPath[file.Path]; found {
			return nil, fmt.Errorf("%s occurs twice", file.Path)
		}
		byPath[file.Path] = file
	}
	for _, file := range l.Files {
		for folder := path.Dir(file.Path); folder != "."; folder = path.Dir(folder) {
			if _, found := byPath[folder]; !found {
				byPath[folder] = Folder(folder, folderMode)
			}
		}
	}
	files := make([]File, 0, len(byPath))
	for _, file := range byPath {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// authorities returns the certificate authorities that Mozilla trusts, as the module in go.mod has them, where programs
// look for them.
func authorities() File {
	var content []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			content = append(content, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return Regular("etc/ssl/certs/ca-certificates.crt", fileMode, content)
}
