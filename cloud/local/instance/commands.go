// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// commands keeps track of the commands that Exec runs in instances.
type commands struct {
	// running are all calls of Exec.
	running sync.WaitGroup

	mu sync.Mutex
	// starting counts the runtimes that start a command, by instance.
	starting map[string]int
	// awaited counts those who wait for a process and then reap it. A process ID can be reused
	// before the one who has reaped its last process is no longer counted.
	awaited map[int]int
}

func newCommands() *commands {
	return &commands{starting: map[string]int{}, awaited: map[int]int{}}
}

// start calls a function that starts a command in an instance and returns its PID. The caller reaps
// the command and then calls reaped.
func (c *commands) start(id string, start func() (int, error)) (int, error) {
	c.mu.Lock()
	c.starting[id]++
	c.mu.Unlock()
	pid, err := start()
	c.mu.Lock()
	defer c.mu.Unlock()
	lower(c.starting, id)
	if err == nil {
		c.awaited[pid]++
	}
	return pid, err
}

func (c *commands) reaped(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lower(c.awaited, pid)
}

// lower subtracts 1 and forgets what is 0.
func lower[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// reapStrays reaps the processes that a failed runtime has left in an instance, and that this
// process has adopted. An instance cannot end before all its processes are reaped. The first process
// of the instance tells which they are. Those that still run are left for a later call.
func (c *commands) reapStrays(id string, first int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starting[id] > 0 {
		return // a stray cannot be told from a command that has just been started
	}
	instance := pidNamespace(first)
	if instance == "" || instance == pidNamespace(os.Getpid()) {
		return // the instance has ended, and the ID may already be another process's
	}
	for _, pid := range process.Children() {
		if pid != first && c.awaited[pid] == 0 && pidNamespace(pid) == instance {
			_ = retry(func() error {
				_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
				return err
			})
		}
	}
}

// pidNamespace returns the name of a process's PID namespace; nothing if it has been reaped.
func pidNamespace(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return name
}
