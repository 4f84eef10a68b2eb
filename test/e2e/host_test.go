//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// leftovers describes what is left of a state folder on the host. It is empty if nothing is left.
func leftovers(state string) []string {
	GinkgoHelper()
	return append(processesOf(state), mountsUnder(state)...)
}

// machinesOf lists what the instances and load balancers of a state folder have on the host:
// processes, mounts and network interfaces, but not the programs that serve the state folder.
func machinesOf(state string) []string {
	GinkgoHelper()
	var left []string
	for _, process := range processesOf(filepath.Join(state, "cloud", "instances")) {
		left = append(left, "instance: "+process)
	}
	for _, process := range processesOf(filepath.Join(state, "cloud", "load-balancers")) {
		left = append(left, "load balancer: "+process)
	}
	left = append(left, mountsUnder(filepath.Join(state, "cloud", "instances"))...)
	return append(left, cardsOf(state)...)
}

// processesOf returns the processes with the folder in their arguments, or in the mounts of their
// own namespace.
func processesOf(folder string) []string {
	GinkgoHelper()
	var found []string
	for _, pid := range pids() {
		args := strings.ReplaceAll(strings.TrimRight(procFile(pid, "cmdline"), "\x00"), "\x00", " ")
		if args != "" && (strings.Contains(args, folder) || mounts(pid, folder)) {
			found = append(found, strconv.Itoa(pid)+" "+args)
		}
	}
	return found
}

// instanceInit returns the first process of an instance. Its containers have first processes too,
// in PID namespaces one level deeper.
func instanceInit(id string) int {
	GinkgoHelper()
	depth := len(pidsInNamespaces(os.Getpid())) + 1
	for _, pid := range pids() {
		if ids := pidsInNamespaces(pid); len(ids) == depth && ids[depth-1] == "1" && inInstance(pid, id) {
			return pid
		}
	}
	Fail("there is no first process of instance " + id)
	return 0
}

// processOfInstance returns the process of a program in an instance, inside a container or not;
// zero if there is none.
func processOfInstance(id, program string) int {
	GinkgoHelper()
	for _, pid := range pids() {
		name, _, _ := strings.Cut(procFile(pid, "cmdline"), "\x00")
		if filepath.Base(name) == program && inInstance(pid, id) {
			return pid
		}
	}
	return 0
}

// inInstance reports whether a process is in the cgroup of an instance or, like containers, below
// it.
func inInstance(pid int, id string) bool {
	return strings.Contains(procFile(pid, "cgroup"), "/foo/"+id+"/")
}

// cgroupsOf returns the cgroups of an instance, one for each hierarchy of the host.
func cgroupsOf(id string) []string {
	GinkgoHelper()
	var found []string
	for _, pattern := range []string{"/sys/fs/cgroup/foo/", "/sys/fs/cgroup/*/foo/"} {
		folders, err := filepath.Glob(pattern + id)
		Expect(err).NotTo(HaveOccurred())
		found = append(found, folders...)
	}
	return found
}

// pidsInNamespaces returns the ID of a process in each of its PID namespaces, innermost last, or
// nothing if it has ended.
func pidsInNamespaces(pid int) []string {
	for line := range strings.Lines(procFile(pid, "status")) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			return strings.Fields(ids)
		}
	}
	return nil
}

// mounts reports whether a process has its own mount namespace with a mount from the folder.
func mounts(pid int, folder string) bool {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false
	}
	theirs, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "ns/mnt"))
	return err == nil && own != theirs && strings.Contains(procFile(pid, "mountinfo"), folder+"/")
}

func mountsUnder(folder string) []string {
	GinkgoHelper()
	var found []string
	for line := range strings.Lines(procFile(os.Getpid(), "mountinfo")) {
		if strings.Contains(line, folder+"/") {
			found = append(found, "mount: "+strings.TrimSpace(line))
		}
	}
	return found
}

// cardsOf returns the network interfaces of instances in the network namespace of a state folder's
// cloud.
func cardsOf(state string) []string {
	GinkgoHelper()
	space, err := netns.GetFromPath(filepath.Join(state, "cloud", "network"))
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = space.Close() }()
	handle, err := netlink.NewHandleAt(space, unix.NETLINK_ROUTE)
	Expect(err).NotTo(HaveOccurred())
	defer handle.Close()
	// The kernel refuses to list what changes meanwhile.
	var links []netlink.Link
	Eventually(func() (err error) {
		links, err = handle.LinkList()
		return err
	}).Should(Succeed())
	var cards []string
	for _, link := range links {
		if name := link.Attrs().Name; strings.HasPrefix(name, "foo") {
			cards = append(cards, "card: "+name)
		}
	}
	return cards
}

func hasBridge(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name)
	return err == nil
}

func pids() []int {
	GinkgoHelper()
	entries, err := os.ReadDir("/proc")
	Expect(err).NotTo(HaveOccurred())
	var list []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// procFile returns a file of a process; nothing if the process has ended.
func procFile(pid int, name string) string {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return ""
	}
	return string(content)
}

// listen listens on a port of 127.0.0.1 until the end of the story, and returns the port.
func listen(ctx context.Context) string {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	return port
}
