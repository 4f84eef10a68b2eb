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

package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// root is the instance's root while it is built: a folder of the child's mount namespace.
type root string

func (r root) path(inside string) string { return filepath.Join(string(r), inside) }

// buildRoot mounts everything of the instance and makes it the root of this process.
func buildRoot(c config) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts from the host: %w", err)
	}
	r := root(filepath.Join(c.Folder, "root"))
	if _, err := mountLayers(c.Folder, string(r)); err != nil {
		return err
	}
	unix.Umask(0)
	for _, step := range []func(root, config) error{
		mountKernel, mountDevices, mountTemporary, mountPrivate, mountPrograms, writeIdentity, hideState,
	} {
		if err := step(r, c); err != nil {
			return err
		}
	}
	unix.Umask(0o022)
	return enter(r)
}

// mount is one mount of a root.
type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (r root) mount(m mount) error {
	target := r.path(m.target)
	if err := os.MkdirAll(target, publicMode); err != nil {
		return fmt.Errorf("make %s: %w", m.target, err)
	}
	if err := unix.Mount(m.source, target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s: %w", m.target, err)
	}
	return nil
}

func (r root) bind(source, target string) error {
	return r.mount(mount{source: source, target: target, flags: unix.MS_BIND})
}

// readOnly makes a bind mount read-only, which the kernel does only in a second step.
func (r root) readOnly(target string) error {
	if err := unix.Mount("", r.path(target), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", target, err)
	}
	return nil
}

func mountPrivate(r root, c config) error {
	for name, target := range privateDirs {
		// A link of the host must not lead the mount elsewhere.
		if info, err := os.Lstat(r.path(target)); err == nil && !info.IsDir() {
			if err := os.Remove(r.path(target)); err != nil {
				return fmt.Errorf("replace %s: %w", target, err)
			}
		}
		if err := r.bind(filepath.Join(c.Folder, privateFolder, name), target); err != nil {
			return err
		}
	}
	return nil
}

func mountTemporary(r root, c config) error {
	for _, m := range []mount{
		{source: "tmpfs", target: "/run", kind: "tmpfs", flags: unix.MS_NOSUID | unix.MS_NODEV, data: "size=256m,mode=755"},
		{source: "tmpfs", target: "/tmp", kind: "tmpfs", flags: unix.MS_NOSUID | unix.MS_NODEV, data: "size=1g,mode=1777"},
	} {
		if err := r.mount(m); err != nil {
			return err
		}
	}
	return r.bind(filepath.Join(c.Folder, "report"), reportDir)
}

func mountPrograms(r root, c config) error {
	for source, target := range map[string]string{c.AgentDir: agentDir, c.ImageDir: kubernetesDir} {
		if err := r.bind(source, target); err != nil {
			return err
		}
		if err := r.readOnly(target); err != nil {
			return err
		}
	}
	return nil
}

// hideState covers the daemon's state folder, which holds all instances' data and lies in the layer below.
func hideState(r root, c config) error {
	if _, err := os.Lstat(r.path(c.StateDir)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return r.mount(mount{
		source: "tmpfs", target: c.StateDir, kind: "tmpfs", flags: unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV, data: "size=4k,mode=700",
	})
}

// enter makes r the root and lets go of the host's.
func enter(r root) error {
	if err := unix.Chdir(string(r)); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	// The old root is stacked on the new one at the same place, so no folder is needed for it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the host's root: %w", err)
	}
	return unix.Chdir("/")
}
