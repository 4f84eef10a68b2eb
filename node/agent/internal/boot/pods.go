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
	// tasksFolder is where containerd has a folder of each container, until that has ended and all that it said is in its log.
	tasksFolder = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
	// lookAgain is the time between two looks whether containers have ended. They are not children of this program, which nobody tells.
	lookAgain = 20 * time.Millisecond
)

// storeName is the program that ends after all others. They write to it as they end, kube-scheduler and kube-controller-manager by way of
// the API server, and would wait for it in vain.
const storeName = "etcd"

// pods are the processes of an instance's pods that are to end, those of storeName apart, and the folders that are gone when they have.
type pods struct {
	pids    []int
	stores  []int
	folders []string
}

// newPods finds the first process of each container: one that is the first of a PID namespace within the instance's. Shims are left out,
// which would end at once and leave the last words of their containers unread. The folder proc is the instance's /proc.
func newPods(proc, tasks string) pods {
	var p pods
	found := map[string]bool{}
	// A folder that cannot be read has no processes in it: what is missed ends with the instance.
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

// isFirstOfNamespace tells from the status of a process whether it has process ID 1 in a namespace below the one that is looked from.
func isFirstOfNamespace(status string) bool {
	for line := range strings.Lines(status) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(ids)
			return len(fields) > 1 && fields[len(fields)-1] == "1"
		}
	}
	return false
}

// end asks the processes to end and returns when they have and their folders are gone. Those that have not after grace, which the stores
// get as well, are killed.
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
