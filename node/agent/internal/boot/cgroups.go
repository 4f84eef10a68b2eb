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

package boot

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	cgroupFolder    = "/sys/fs/cgroup"
	controllersFile = cgroupFolder + "/cgroup.controllers"
	// controllersText stands in for the kernel's list of controllers.
	controllersText = "/run/foo/cgroup.controllers"
)

// controllers that kubeadm's checks ask for.
var controllers = []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}

// setCgroups lets the instance look like a machine with cgroups v2, which kubeadm's checks demand, on a machine that has its
// controllers elsewhere (in version 1, or not delegated). Nothing in an instance of the process runtime uses a controller: the
// kubelet's are off. So the list of controllers is replaced by the one that is asked for; the rest is the kernel's.
func setCgroups() error {
	if hasControllers() {
		return nil
	}
	if err := unix.Mount("cgroup2", cgroupFolder, "cgroup2", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount cgroup2 at %s: %w", cgroupFolder, err)
	}
	if hasControllers() {
		return nil
	}
	if err := os.WriteFile(controllersText, []byte(strings.Join(controllers, " ")+"\n"), 0o400); err != nil {
		return fmt.Errorf("list of cgroup controllers: %w", err)
	}
	if err := unix.Mount(controllersText, controllersFile, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("list of cgroup controllers: %w", err)
	}
	return nil
}

func hasControllers() bool {
	var fs unix.Statfs_t
	if err := unix.Statfs(cgroupFolder, &fs); err != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return false
	}
	data, err := os.ReadFile(controllersFile)
	if err != nil {
		return false
	}
	present := strings.Fields(string(bytes.TrimSpace(data)))
	for _, controller := range []string{"cpuset", "cpu", "memory", "pids"} {
		if !slices.Contains(present, controller) {
			return false
		}
	}
	return true
}
