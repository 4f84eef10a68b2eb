// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"os"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// commands keeps track of the commands that Exec runs in instances.
type commands struct {
	// running are all calls of Exec.
	running sync.WaitGroup

	mu sync.Mutex
	// starting are the runtimes that start commands, by the instance's PID namespace.
	starting map[string]runtimes
	// awaited counts, by PID, those who will reap it and then call reaped. It is a count, because the
	// PID can be reused before reaped is called for its last owner.
	awaited map[int]int
}

// runtimes are those that start commands in one instance at the same time.
type runtimes struct {
	count int
	// failed is true if one has failed.
	failed bool
}

func newCommands() *commands {
	return &commands{starting: map[string]runtimes{}, awaited: map[int]int{}}
}

// start calls a function that makes a runtime start a command in an instance, and returns its PID. The
// caller reaps the command and then calls reaped. first is the PID of the instance's first process.
func (c *commands) start(first int, run func() (int, error)) (int, error) {
	namespace := pidNamespace(first)
	c.mu.Lock()
	all := c.starting[namespace]
	all.count++
	c.starting[namespace] = all
	c.mu.Unlock()
	pid, err := run()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.awaited[pid]++
	}
	all = c.starting[namespace]
	all.count, all.failed = all.count-1, all.failed || err != nil
	if all.count > 0 {
		// Until they have started their commands, these cannot be told from strays.
		c.starting[namespace] = all
		return pid, err
	}
	delete(c.starting, namespace)
	if all.failed {
		c.reapStrays(namespace, first)
	}
	return pid, err
}

// reaped tells that a process for which somebody waited has been reaped.
func (c *commands) reaped(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.awaited[pid]--; c.awaited[pid] == 0 {
		delete(c.awaited, pid)
	}
}

// reapStrays reaps, when they end, the processes that failed runtimes have left in an instance and that
// this process has adopted. The instance cannot end before all its processes are reaped. A runtime that
// was killed before it entered the instance may leave one later, which is not found.
func (c *commands) reapStrays(namespace string, first int) {
	if namespace == "" || namespace == pidNamespace(os.Getpid()) {
		return // the instance had ended, and its PID may be another process's
	}
	for _, pid := range process.Children() {
		if pid == first || c.awaited[pid] > 0 || pidNamespace(pid) != namespace {
			continue
		}
		c.awaited[pid]++
		go func() {
			defer c.reaped(pid)
			_, _ = reap(pid)
		}()
	}
}

// pidNamespace returns the name of a process's PID namespace; nothing if there is no such process.
func pidNamespace(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return name
}
