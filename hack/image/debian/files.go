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

package debian

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
)

// left are the files that no instance reads. What says who may copy a package stays.
var left = []*regexp.Regexp{
	regexp.MustCompile(`^usr/share/(man|info|locale|lintian|bash-completion|menu|bug)(/|$)`),
	regexp.MustCompile(`^usr/share/doc/[^/]+/(.*/)?[^/]+$`),
	// Tables of character sets; all text of an instance is UTF-8.
	regexp.MustCompile(`^usr/lib/[^/]+/gconv(/|$)`),
}

var license = regexp.MustCompile(`^usr/share/doc/[^/]+/copyright$`)

// migrated are folders of base-files that its maintainer script replaces by links. kubeadm asks for the runtime's socket
// below /var/run.
var migrated = map[string]string{"var/run": "/run", "var/lock": "/run/lock"}

// Files returns the files of packages, given as paths of .deb files, and a record of each package where scanners of
// images look for it. Maintainer scripts are not run: of what they do, an instance needs only what migrated says. What nobody
// reads in an image is left out, as documentation.
func Files(ctx context.Context, paths []string) ([]image.File, error) {
	byPath := map[string]image.File{}
	for _, path := range paths {
		files, err := unpack(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := insert(byPath, file); err != nil {
				return nil, fmt.Errorf("package %s: %w", path, err)
			}
		}
	}
	files := make([]image.File, 0, len(byPath))
	for _, file := range byPath {
		if target, found := migrated[file.Path]; found {
			file = image.Link(file.Path, target)
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b image.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// insert adds a file. Packages may share folders, and nothing else; the first one says whose a folder is.
func insert(files map[string]image.File, file image.File) error {
	earlier, found := files[file.Path]
	if !found {
		files[file.Path] = file
		return nil
	}
	if earlier.Kind != tar.TypeDir || file.Kind != tar.TypeDir {
		return fmt.Errorf("%s is in an earlier package too", file.Path)
	}
	return nil
}

// unpack returns what is in a package.
func unpack(ctx context.Context, path string) ([]image.File, error) {
	content, err := run(exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", path))
	if err != nil {
		return nil, err
	}
	files, err := read(tar.NewReader(bytes.NewReader(content)))
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	control, err := run(exec.CommandContext(ctx, "dpkg-deb", "--field", path))
	if err != nil {
		return nil, err
	}
	name, err := run(exec.CommandContext(ctx, "dpkg-deb", "--field", path, "Package"))
	if err != nil {
		return nil, err
	}
	return append(files, image.Regular("var/lib/dpkg/status.d/"+strings.TrimSpace(string(name)), fileMode, control)), nil
}

func read(reader *tar.Reader) ([]image.File, error) {
	var files []image.File
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		if name == "" || isLeft(name) {
			continue
		}
		file := image.File{
			Path: name, Kind: header.Typeflag, Mode: header.Mode, User: header.Uid, Group: header.Gid, Target: header.Linkname,
		}
		switch header.Typeflag {
		case tar.TypeDir, tar.TypeSymlink:
		case tar.TypeLink:
			file.Target = strings.TrimPrefix(path.Clean("/"+header.Linkname), "/")
		case tar.TypeReg:
			if file.Content, err = io.ReadAll(reader); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s is of type %q, want a file, folder or link", name, header.Typeflag)
		}
		files = append(files, file)
	}
}

func isLeft(name string) bool {
	return !license.MatchString(name) && slices.ContainsFunc(left, func(pattern *regexp.Regexp) bool { return pattern.MatchString(name) })
}
