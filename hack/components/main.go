// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command components writes an archive with the images that Kubernetes versions run on their nodes,
// under kubeadm's names for them. The images contain the programs of the given folders.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
)

// pauseProgram of the operating system holds the namespaces of a pod.
const pauseProgram = "usr/bin/catatonit"

type config struct {
	architecture, kubernetes, kubeadm, runtime, system, output, extra string
}

func main() {
	var c config
	flag.StringVar(&c.architecture, "architecture", runtime.GOARCH, "architecture of the images")
	flag.StringVar(&c.kubernetes, "kubernetes", "bin/kubernetes", "folder with the programs of each version")
	flag.StringVar(&c.kubeadm, "kubeadm", "bin/kubernetes", "folder with the same of this machine's architecture")
	flag.StringVar(&c.runtime, "runtime", "bin/runtime", "folder with CoreDNS and flannel in each version")
	flag.StringVar(&c.system, "system", "", "archive of the operating system, built by hack/build-system.sh")
	flag.StringVar(&c.output, "output", "", "archive to write")
	flag.StringVar(&c.extra, "extra", "", "references of additional images to write, separated by commas")
	flag.Parse()
	if err := c.write(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "components:", err)
		os.Exit(1)
	}
}

func (c config) write(ctx context.Context, versions []string) error {
	archive, err := os.Open(c.system)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	files, _, err := image.ReadSystem(archive)
	if err != nil {
		return err
	}
	pause := slices.IndexFunc(files, func(file image.File) bool { return file.Path == pauseProgram })
	if pause < 0 {
		return fmt.Errorf("%s has no %s", c.system, pauseProgram)
	}
	components := image.Components{Architecture: c.architecture, Pause: files[pause].Content}
	components.System = &image.Layer{Content: "the operating system of nodes", Files: slices.DeleteFunc(files, ofNodes), Plain: true}
	images := map[string]image.Image{}
	for _, version := range versions {
		if err := c.add(ctx, images, components, version); err != nil {
			return fmt.Errorf("images of Kubernetes %s: %w", version, err)
		}
	}
	all := make([]image.Image, 0, len(images))
	for _, one := range images {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b image.Image) int { return strings.Compare(a.Reference, b.Reference) })
	output, err := os.Create(c.output)
	if err != nil {
		return err
	}
	return errors.Join(image.Write(output, all...), output.Close())
}

// ofNodes reports whether a file is large and useless in a container.
func ofNodes(file image.File) bool {
	return strings.HasPrefix(file.Path, "usr/lib/cni/")
}

// add adds the images of a version that have not been added for another version.
func (c config) add(ctx context.Context, images map[string]image.Image, components image.Components, version string) error {
	programs, err := image.Programs(filepath.Join(c.kubernetes, version))
	if err != nil {
		return err
	}
	components.Kubernetes = image.KubernetesLayer(version, programs)
	components.Kubernetes.Plain = true
	references, err := referencesOf(ctx, filepath.Join(c.kubeadm, version), version)
	if err != nil {
		return err
	}
	for _, reference := range slices.Concat(references, strings.FieldsFunc(c.extra, func(r rune) bool { return r == ',' })) {
		if _, found := images[reference]; found {
			continue
		}
		if err := c.read(&components, reference); err != nil {
			return fmt.Errorf("%s: %w", reference, err)
		}
		if images[reference], err = components.Image(reference); err != nil {
			return err
		}
	}
	return nil
}

// read reads the program of an image that is not part of Kubernetes.
func (c config) read(components *image.Components, reference string) (err error) {
	name, tag, _ := strings.Cut(path.Base(reference), ":")
	switch name {
	case "coredns":
		components.DNS, err = os.ReadFile(filepath.Join(c.runtime, name, tag, "coredns"))
	case "flannel":
		components.Flannel, err = os.ReadFile(filepath.Join(c.runtime, name, tag, "flanneld"))
	}
	return err
}

// referencesOf asks kubeadm which images a version needs.
func referencesOf(ctx context.Context, folder, version string) ([]string, error) {
	command := exec.CommandContext(ctx, filepath.Join(folder, "kubeadm"), "config", "images", "list", "--kubernetes-version="+version)
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("ask kubeadm which images it needs: %w: %s", err, problem.String())
	}
	return strings.Fields(string(output)), nil
}
