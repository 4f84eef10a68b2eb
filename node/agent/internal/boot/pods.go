// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tasksFolder is where containerd keeps a folder per container, until the container has ended
	// and all its output is in its log.
	tasksFolder = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
	// lookAgain is the time between two checks whether containers have ended. They are not children
	// of this program, so it is not notified.
	lookAgain = 20 * time.Millisecond
)

// storeName is the program that must end after all others. They write to it as they end
// (kube-scheduler and kube-controller-manager through the API server), and would wait in vain if it
// were gone.
const storeName = "etcd"

// pods are the processes of an instance's pods that must end, with storeName processes separate,
// and the folders that disappear once the processes have ended.
type pods struct {
	pids    []int
	stores  []int
	folders []string
}

// newPods finds the first process of each container, which is the first process of a PID namespace
// inside the instance's. It omits the shims: they would end immediately and leave the last output
// of their containers unread. proc is the instance's /proc.
func newPods(proc, tasks string) pods {
	var p pods
	found := map[string]bool{}
	// A folder that cannot be read contains no processes; anything missed ends with the instance.
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "status"))
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		status, err := os.ReadFile(file)
		pid, numberErr := strconv.Atoi(name)
		if err != nil || numberErr != nil || !isFirstOfNamespace(string(status)) {
			continue
		}
		found[name] = true
		if strings.HasPrefix(string(status), "Name:\t"+storeName+"\n") {
			p.stores = append(p.stores, pid)
		} else {
			p.pids = append(p.pids, pid)
		}
	}
	files, _ = filepath.Glob(filepath.Join(tasks, "*", "init.pid"))
	for _, file := range files {
		if pid, err := os.ReadFile(file); err == nil && found[strings.TrimSpace(string(pid))] {
			p.folders = append(p.folders, filepath.Dir(file))
		}
	}
	return p
}

// isFirstOfNamespace reports whether, according to its status, a process has process ID 1 in a
// namespace below the observer's.
func isFirstOfNamespace(status string) bool {
	for line := range strings.Lines(status) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(ids)
			return len(fields) > 1 && fields[len(fields)-1] == "1"
		}
	}
	return false
}

// end asks the processes to end, the stores last, and returns when they have ended and their
// folders have disappeared. Processes still running after grace are killed; the stores get their
// own grace.
func (p pods) end(grace time.Duration) error {
	err := end(p.pids, nil, grace)
	return errors.Join(err, end(p.stores, p.folders, grace))
}

func end(pids []int, folders []string, grace time.Duration) error {
	send(pids, unix.SIGTERM)
	timer, ticker := time.NewTimer(grace), time.NewTicker(lookAgain)
	defer timer.Stop()
	defer ticker.Stop()
	for running(pids, folders) {
		select {
		case <-ticker.C:
		case <-timer.C:
			send(pids, unix.SIGKILL)
			return fmt.Errorf("containers have not ended after %s; they are killed", grace)
		}
	}
	return nil
}

func send(pids []int, signal unix.Signal) {
	for _, pid := range pids {
		_ = unix.Kill(pid, signal) // it may have ended
	}
}

func running(pids []int, folders []string) bool {
	for _, pid := range pids {
		if unix.Kill(pid, 0) == nil {
			return true
		}
	}
	for _, folder := range folders {
		if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}
