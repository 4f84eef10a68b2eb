// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// Folders of the state folder that hold the layers of all instances, and a file in each instance's
// folder that names the layers it uses.
const (
	agentLayers      = "agent"
	kubernetesLayers = "kubernetes"
	layersFile       = "layers"
)

// layers returns the folders that make up the root of an instance, uppermost first: its identity,
// the agent, Kubernetes and the operating system. They are layers rather than mounts because root
// in an instance could make a mount writable and change what all instances share.
//
// An instance that starts again with its disk keeps the layers that it had, as long as all exist: after
// an upgrade, the operating system may lack the container images of its Kubernetes version.
func (d *Driver) layers(spec engine.MachineSpec) (string, error) {
	id, image := spec.ID, cloud.Image{Name: spec.Image, KubernetesVersion: spec.KubernetesVersion}
	if spec.KeepDisk {
		if layers := d.recordedLayers(id); layers != "" {
			return layers, d.openLayers(layers)
		}
	}
	kubernetes, err := d.kubernetesLayer(ImageFolder(image))
	if err != nil {
		return "", fmt.Errorf("programs of Kubernetes %s: %w", image.KubernetesVersion, err)
	}
	layers := strings.Join([]string{filepath.Join(d.folder(id), identityFolder), d.options.AgentDir, kubernetes, d.options.SystemDir}, ":")
	if err := os.WriteFile(filepath.Join(d.folder(id), layersFile), []byte(layers), fileMode); err != nil {
		return "", fmt.Errorf("note the layers of the instance: %w", err)
	}
	return layers, d.openLayers(layers)
}

// openLayers lets users other than root into the folders with programs. An earlier version may have made them,
// with the umask of its caller.
func (d *Driver) openLayers(layers string) error {
	for layer := range strings.SplitSeq(layers, ":") {
		if !strings.HasPrefix(layer, d.options.StateDir+"/") {
			continue // an operating system, which is as it was built
		}
		for _, folder := range []string{contract.AgentDir, contract.KubernetesDir} {
			for ; folder != "/"; folder = filepath.Dir(folder) {
				err := os.Chmod(filepath.Join(layer, folder), publicMode)
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					return fmt.Errorf("open the folders with programs: %w", err)
				}
			}
		}
	}
	return nil
}

// recordedLayers returns the layers that an instance had when it started last; nothing if one is gone.
func (d *Driver) recordedLayers(id string) string {
	text, err := os.ReadFile(filepath.Join(d.folder(id), layersFile))
	if err != nil {
		return ""
	}
	for layer := range strings.SplitSeq(string(text), ":") {
		if _, err := os.Stat(layer); err != nil {
			return ""
		}
	}
	return string(text)
}

// removeUnusedLayers removes the programs that no instance uses any more.
func (d *Driver) removeUnusedLayers(instances []string) error {
	used := []string{d.options.AgentDir}
	for _, id := range instances {
		text, err := os.ReadFile(filepath.Join(d.folder(id), layersFile))
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat(d.folder(id)); err == nil {
				return nil // an earlier version started it and did not record its layers
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("read the layers of instance %s: %w", id, err)
		}
		used = append(used, strings.Split(string(text), ":")...)
	}
	for _, kind := range []string{agentLayers, kubernetesLayers} {
		folders, err := filepath.Glob(filepath.Join(d.options.StateDir, kind, "*"))
		if err != nil {
			return err
		}
		for _, folder := range folders {
			if slices.Contains(used, folder) {
				continue
			}
			if err := os.RemoveAll(folder); err != nil {
				return fmt.Errorf("remove programs that no instance has: %w", err)
			}
		}
	}
	return nil
}

// imageSeparator is between the name and the version in the name of an image's folder.
const imageSeparator = "@"

// ImageFolder returns the name of the folder that holds an image: the Kubernetes version, with the
// image's name in front unless it is the default image, for example "gpu@v1.36.3".
func ImageFolder(image cloud.Image) string {
	if image.Name == "" {
		return image.KubernetesVersion
	}
	return image.Name + imageSeparator + image.KubernetesVersion
}

// ImageOf returns the image that a folder with this name holds.
func ImageOf(folder string) cloud.Image {
	name, version, named := strings.Cut(folder, imageSeparator)
	if !named {
		return cloud.Image{KubernetesVersion: folder}
	}
	return cloud.Image{Name: name, KubernetesVersion: version}
}

// kubernetesLayer returns a folder that holds the programs of an image, laid out as in an
// instance. It creates the folder on first use. When the programs are rebuilt, running instances
// keep the programs that they were created with.
func (d *Driver) kubernetesLayer(image string) (string, error) {
	source := filepath.Join(d.options.ImagesDir, image)
	var built unix.Stat_t
	if err := unix.Stat(filepath.Join(source, kubernetesProgram), &built); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%d-%d", image, built.Ino, built.Mtim.Nano())
	layer := filepath.Join(d.options.StateDir, kubernetesLayers, name)
	d.making.Lock()
	defer d.making.Unlock()
	// An existing folder is complete, because it gets its name last.
	if _, err := os.Stat(layer); err == nil {
		return layer, nil
	}
	partial := filepath.Join(d.options.StateDir, kubernetesLayers, "new")
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(filepath.Join(partial, contract.KubernetesDir), publicMode)); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if err := install(filepath.Join(source, entry.Name()), filepath.Join(partial, contract.KubernetesDir, entry.Name())); err != nil {
			return "", err
		}
	}
	return layer, os.Rename(partial, layer)
}

// install makes a program, or a link to one, available at another path. It copies only across file
// systems.
func install(from, to string) error {
	err := os.Link(from, to)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if target, err := os.Readlink(from); err == nil {
		return os.Symlink(target, to)
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, publicMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	// The folder with the copy counts as complete once it has its name.
	return errors.Join(err, target.Sync(), target.Close())
}
