// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

// pauseProgram of the operating system holds the namespaces of a pod.
const pauseProgram = "usr/bin/catatonit"

// images says what to make images from.
type images struct {
	architecture, kubernetes, kubeadm, runtime, system, output string

	extra []string
}

func (i images) write(ctx context.Context, versions []string) error {
	if len(versions) == 0 && len(i.extra) == 0 {
		return errors.New("no image to write: name a Kubernetes version, or an image with --extra")
	}
	files, _, err := image.ReadSystem(i.system)
	if err != nil {
		return err
	}
	components := image.Components{
		Architecture: i.architecture, Pause: filepath.Join(i.system, pauseProgram),
		System:     &image.Layer{Content: "the operating system of nodes", Files: slices.DeleteFunc(files, ofNodes), Plain: true},
		Kubernetes: &image.Layer{Plain: true},
	}
	made := map[string]image.Image{}
	if len(versions) == 0 {
		if err := i.addReferences(made, components, i.extra); err != nil {
			return err
		}
	}
	for _, version := range versions {
		if err := i.add(ctx, made, components, version); err != nil {
			return fmt.Errorf("images of Kubernetes %s: %w", version, err)
		}
	}
	all := make([]image.Image, 0, len(made))
	for _, reference := range slices.Sorted(maps.Keys(made)) {
		all = append(all, made[reference])
	}
	output, err := os.Create(i.output)
	if err != nil {
		return err
	}
	return errors.Join(image.Write(output, all...), output.Close())
}

// ofNodes reports whether a file is large and useless in a container.
func ofNodes(file image.File) bool { return strings.HasPrefix(file.Path, "usr/lib/cni/") }

// add adds the images of a version that have not been added for another version.
func (i images) add(ctx context.Context, made map[string]image.Image, components image.Components, version string) error {
	programs, err := image.KubernetesPrograms(filepath.Join(i.kubernetes, version))
	if err != nil {
		return err
	}
	components.Kubernetes = image.KubernetesLayer(version, programs)
	components.Kubernetes.Plain = true
	references, err := referencesOf(ctx, filepath.Join(i.kubeadm, version), version)
	if err != nil {
		return err
	}
	return i.addReferences(made, components, slices.Concat(references, i.extra))
}

func (i images) addReferences(made map[string]image.Image, components image.Components, references []string) error {
	for _, reference := range references {
		if _, found := made[reference]; found {
			continue
		}
		name, tag, _ := strings.Cut(path.Base(reference), ":")
		components.DNS = filepath.Join(i.runtime, name, tag, "coredns")
		components.Flannel = filepath.Join(i.runtime, name, tag, "flanneld")
		one, err := components.Image(reference)
		if err != nil {
			return err
		}
		made[reference] = one
	}
	return nil
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
