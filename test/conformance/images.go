// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

const (
	// registry is where the tests pull most images from.
	registry    = "registry.k8s.io/e2e-test-images/"
	rootUser    = "0:0"
	programMode = 0o755
	fileMode    = 0o644
	// busyboxPath is the path of busybox in Debian.
	busyboxPath = "usr/bin/busybox"
	shellPath   = "usr/bin/bash-static"
	searchPath  = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// images are the images that conformance tests of v1.36.3 use, except pause and etcd, which nodes
// have. The list of all images is test/utils/image/manifest.go of Kubernetes.
type images struct {
	system, programs, output string

	// folder has the operating system, which consists of files.
	folder string
	files  []image.File
	// tools is the layer with the operating system.
	tools *image.Layer
}

func (i images) write(ctx context.Context) error {
	var err error
	if i.folder, err = os.MkdirTemp("", "conformance-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(i.folder) }()
	if output, err := exec.CommandContext(ctx, "tar", "-C", i.folder, "--exclude", "./dev/*", "-xpf", i.system).CombinedOutput(); err != nil {
		return fmt.Errorf("unpack %s: %w: %s", i.system, err, output)
	}
	if i.files, _, err = image.ReadSystem(i.folder); err != nil {
		return err
	}
	listed, err := exec.CommandContext(ctx, filepath.Join(i.folder, busyboxPath), "--list").Output()
	if err != nil {
		return fmt.Errorf("list the applets of busybox: %w", err)
	}
	applets := slices.DeleteFunc(strings.Fields(string(listed)), func(name string) bool { return name == "busybox" })
	i.tools = &image.Layer{Content: "Debian with tools", Files: withApplets(i.files, applets), Plain: true}
	all := []image.Image{i.busybox(applets), i.nonroot(), i.glibc()}
	all = append(all, i.nginx()...)
	for _, make := range []func() ([]image.Image, error){i.agnhosts, i.nonewprivs, i.apiserver} {
		made, err := make()
		if err != nil {
			return err
		}
		all = append(all, made...)
	}
	output, err := os.Create(i.output)
	if err != nil {
		return err
	}
	return errors.Join(image.Write(output, all...), output.Close())
}

// image returns an image with layers for this host's architecture.
func newImage(reference string, layers ...*image.Layer) image.Image {
	name, tag, _ := strings.Cut(path.Base(reference), ":")
	return image.Image{
		Title: name, Reference: reference, Version: tag, User: rootUser, Environment: []string{searchPath},
		Description: "A rebuild of " + reference + " for tests, from Debian packages and the sources of Kubernetes",
		Layers:      map[string][]*image.Layer{runtime.GOARCH: layers},
	}
}

// agnhosts returns the images with agnhost: agnhost itself under the two tags that tests roll
// between, and images that only add files.
func (i images) agnhosts() ([]image.Image, error) {
	program, err := i.program("agnhost", "agnhost", programMode)
	if err != nil {
		return nil, err
	}
	files := append([]image.File{program, image.Link("agnhost-2", "agnhost"), image.Folder("uploads", programMode)}, i.users()...)
	for _, name := range []string{"localhost.crt", "localhost.key"} {
		file, err := i.program(name, name, fileMode)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	layer := &image.Layer{Content: "agnhost", Files: files, Plain: true}
	made := make([]image.Image, 0, 4)
	for _, tag := range []string{"2.63.0", "2.55"} {
		one := newImage(registry+"agnhost:"+tag, i.tools, layer)
		one.Entrypoint, one.Command = []string{"/agnhost"}, []string{"pause"}
		made = append(made, one)
	}
	for _, name := range []string{"kitten", "nautilus"} {
		var added []image.File
		for _, file := range []string{name + ".jpg", "data.json"} {
			content, err := i.program(filepath.Join(name, file), file, fileMode)
			if err != nil {
				return nil, err
			}
			added = append(added, content)
		}
		// A test looks for the operating system's name in the original image.
		added = append(added, image.Regular("etc/os-release", fileMode, []byte(
			"ID=debian\nNAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux in the place of Alpine Linux\"\n")))
		one := newImage(registry+name+":1.8", i.tools, layer, &image.Layer{Content: name, Files: added, Plain: true})
		one.Entrypoint, one.Command = []string{"/agnhost"}, []string{"test-webserver"}
		made = append(made, one)
	}
	return made, nil
}

// users returns the lists of users and groups, including those that tests expect in agnhost.
func (i images) users() []image.File {
	return []image.File{
		image.Regular("etc/passwd", fileMode, append(i.content("etc/passwd"), "user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n"...)),
		image.Regular("etc/group", fileMode, append(i.content("etc/group"), "user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n"...)),
	}
}

func (i images) nginx() []image.Image {
	layer := &image.Layer{Content: "nginx", Files: []image.File{image.Folder("var/log/nginx", programMode)}, Plain: true}
	made := make([]image.Image, 0, 2)
	for _, tag := range []string{"1.15-4", "1.27-0"} {
		one := newImage(registry+"nginx:"+tag, i.tools, layer)
		one.Command = []string{"nginx", "-g", "daemon off;"}
		made = append(made, one)
	}
	return made
}

func (i images) glibc() image.Image {
	one := newImage(registry+"glibc-dns-testing:2.0.0", i.tools)
	one.Command = []string{"bash"}
	return one
}

func (i images) nonroot() image.Image {
	one := newImage(registry+"nonroot:1.5", i.tools)
	one.User, one.Command = "1234", []string{"sh"}
	return one
}

func (i images) nonewprivs() ([]image.Image, error) {
	const setUserAndGroup = 0o6000
	program, err := i.program("nnp", "usr/local/bin/nnp", programMode|setUserAndGroup)
	if err != nil {
		return nil, err
	}
	one := newImage(registry+"nonewprivs:1.4", i.tools, &image.Layer{Content: "nnp", Files: []image.File{program}, Plain: true})
	one.Command = []string{"nnp"}
	return []image.Image{one}, nil
}

func (i images) apiserver() ([]image.Image, error) {
	program, err := i.program("sample-apiserver", "sample-apiserver", programMode)
	if err != nil {
		return nil, err
	}
	one := newImage(registry+"sample-apiserver:1.29.2", i.tools, &image.Layer{Content: "sample-apiserver", Files: []image.File{program}, Plain: true})
	one.Entrypoint = []string{"/sample-apiserver"}
	return []image.Image{one}, nil
}

// busybox returns the image with only busybox and a second shell, which is found first in the PATH: tests
// look for messages of /bin/sh, and for variables like data-1, which Debian's busybox does not pass on.
func (i images) busybox(applets []string) image.Image {
	files := slices.Grow([]image.File{
		image.Regular("bin/busybox", programMode, i.content(busyboxPath)),
		image.Regular("usr/bin/sh", programMode, i.content(shellPath)),
		image.Regular("etc/passwd", fileMode, i.content("etc/passwd")),
		image.Regular("etc/group", fileMode, i.content("etc/group")),
		image.Folder("home", programMode), image.Folder("root", 0o700), image.Folder("tmp", 0o1777),
		image.Folder("var/www", programMode), image.Link("usr/bin/env", "/bin/env"),
	}, len(applets))
	for _, name := range applets {
		files = append(files, image.Link("bin/"+name, "busybox"))
	}
	one := newImage(registry+"busybox:1.37.0-1", &image.Layer{Content: "busybox", Files: files, Plain: true})
	one.Command = []string{"sh"}
	return one
}

// withApplets adds the applets of busybox that the system has no program for, as in the original
// images.
func withApplets(files []image.File, applets []string) []image.File {
	all := slices.Clone(files)
	there := map[string]bool{}
	for _, file := range files {
		there[path.Base(file.Path)] = there[path.Base(file.Path)] || slices.Contains([]string{"usr/bin", "usr/sbin"}, path.Dir(file.Path))
	}
	for _, name := range applets {
		if !there[name] {
			all = append(all, image.Link("usr/bin/"+name, "busybox"))
		}
	}
	return all
}

// content returns the content of a file in the operating system, or nothing if it does not exist.
func (i images) content(path string) []byte {
	content, err := os.ReadFile(filepath.Join(i.folder, path))
	if err != nil {
		return nil
	}
	return content
}

// program reads a file in the programs folder.
func (i images) program(from, to string, mode int64) (image.File, error) {
	content, err := os.ReadFile(filepath.Join(i.programs, from))
	return image.Regular(to, mode, content), err
}
