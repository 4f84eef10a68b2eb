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

// Package mounts gives a process a view of the instance's files with some of them at other paths, as a container's mounts do.
//
// A process can not change its own mounts while it is being started by another, so the agent's program is run first, in a mount
// namespace of its own (see Program): it makes the mounts and then becomes the real program, with the same process ID.
//
// Limits: what is mounted over is hidden from that process only, but a mount point that is missing is made in the instance.
package mounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Verb is the agent's first argument for Run.
const Verb = "run-with-mounts"

// self is the agent's own program, which stays valid when the file is replaced.
const self = "/proc/self/exe"

// Mount shows a file or folder at another path.
type Mount struct {
	// Source is what to show.
	Source string `json:"source"`
	// Target is where.
	Target string `json:"target"`
	// ReadOnly refuses changes there.
	ReadOnly bool `json:"readOnly,omitempty"`
}

// Program returns program and arguments that run the given ones with mounts. It must be started in a mount namespace of its own.
func Program(mounts []Mount, path string, args []string) (string, []string, error) {
	encoded, err := json.Marshal(mounts)
	if err != nil {
		return "", nil, fmt.Errorf("mounts: %w", err)
	}
	return self, append([]string{"foonode", Verb, string(encoded), path}, args...), nil
}

// Run makes the mounts and becomes the program; args are those after Verb. It returns only with an error.
func Run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%s needs mounts, a program and its arguments", Verb)
	}
	var mounts []Mount
	if err := json.Unmarshal([]byte(args[0]), &mounts); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if len(mounts) > 0 && sharesMounts() {
		return errors.New("mounts: refused in the mount namespace of the instance itself")
	}
	for _, mount := range mounts {
		if err := mount.make(); err != nil {
			return err
		}
	}
	if err := syscall.Exec(args[1], args[2:], os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", args[1], err)
	}
	return nil
}

// sharesMounts tells whether this process has the mounts of the instance's first process.
func sharesMounts() bool {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return true
	}
	first, err := os.Readlink("/proc/1/ns/mnt")
	return err != nil || own == first
}

func (m Mount) make() error {
	if err := m.makePoint(); err != nil {
		return fmt.Errorf("mount point %s: %w", m.Target, err)
	}
	if err := unix.Mount(m.Source, m.Target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", m.Source, m.Target, err)
	}
	if !m.ReadOnly {
		return nil
	}
	if err := unix.Mount("", m.Target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make mount at %s read-only: %w", m.Target, err)
	}
	return nil
}

func (m Mount) makePoint() error {
	info, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(m.Target, 0o750)
	}
	if err := os.MkdirAll(filepath.Dir(m.Target), 0o750); err != nil {
		return err
	}
	file, err := os.OpenFile(m.Target, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}
