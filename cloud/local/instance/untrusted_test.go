// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// soon is how long a file system event may take on a busy machine.
const soon = time.Minute

func write(t *testing.T, folder, text string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.WriteFile(filepath.Join(folder, "new"), []byte(text), 0o600)).To(Succeed())
	g.Expect(os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, contract.ReportFile))).To(Succeed())
}

func openReports(t *testing.T) *reports {
	t.Helper()
	r, err := newReports()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = r.close() })
	return r
}

// instanceFolder returns the folder of an instance, and the folder in it for reports.
func instanceFolder(t *testing.T) (folder, written string) {
	t.Helper()
	folder = t.TempDir()
	written = filepath.Join(folder, reportFolder)
	NewWithT(t).Expect(os.MkdirAll(written, 0o700)).To(Succeed())
	return folder, written
}

func TestReports(t *testing.T) {
	g := NewWithT(t)
	r := openReports(t)
	watched := func(id string) (string, <-chan cloud.Bootstrap) {
		folder, written := instanceFolder(t)
		write(t, written, `{"phase":"Booting","bootstrap":{"state":"Pending"}}`)
		reports, err := r.watch(id, folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(reports).To(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapPending})), "what is there already counts")
		return written, reports
	}
	written, reports := watched("one")
	write(t, written, `{"phase":"Running","bootstrap":{"state":"Running"}}`)
	g.Eventually(reports, soon).Should(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapRunning})), "a change is an event")
	for _, text := range []string{"", "{", `{"bootstrap":{"state":"Odd"}}`, `{"bootstrap":7}`} {
		write(t, written, text)
	}
	write(t, written, `{"bootstrap":{"state":"Failed","message":"m"}}`)
	g.Eventually(reports, soon).Should(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "m"})), "what makes no sense is left out")

	written, reports = watched("two") // it has no change left to read
	r.forget("two")
	write(t, written, `{"bootstrap":{"state":"Succeeded"}}`)
	g.Consistently(reports, "100ms").ShouldNot(Receive(), "nobody watches it any more")
}

// An instance that reports constantly costs at most one report per interval, and its last one
// counts.
func TestReportsAreLimited(t *testing.T) {
	g := NewWithT(t)
	r := openReports(t)
	folder, written := instanceFolder(t)
	reports, err := r.watch("one", folder)
	g.Expect(err).NotTo(HaveOccurred())
	began, heard := time.Now(), 0
	for i := range 1000 {
		write(t, written, fmt.Sprintf(`{"bootstrap":{"state":"Running","message":"%d"}}`, i))
		select {
		case <-reports:
			heard++
		default:
		}
	}
	write(t, written, `{"bootstrap":{"state":"Succeeded"}}`)
	g.Eventually(func() cloud.BootstrapState {
		heard++
		return (<-reports).State
	}, soon).Should(Equal(cloud.BootstrapSucceeded))
	g.Expect(heard).To(BeNumerically("<=", reportsAtOnce+2+int(time.Since(began)/reportInterval)))
}

// One instance can make the kernel drop events again and again. That must not cost a report of each
// instance every time.
func TestReportsAreLimitedWhenEventsAreLost(t *testing.T) {
	g := NewWithT(t)
	r := openReports(t)
	folder, written := instanceFolder(t)
	write(t, written, `{"bootstrap":{"state":"Running"}}`)
	reports, err := r.watch("neighbour", folder)
	g.Expect(err).NotTo(HaveOccurred())
	began, heard := time.Now(), 0
	for range 1000 {
		r.readAll()
		select {
		case <-reports:
			heard++
		default:
		}
	}
	g.Expect(heard).To(BeNumerically("<=", reportsAtOnce+2+int(time.Since(began)/reportInterval)))
	write(t, written, `{"bootstrap":{"state":"Succeeded"}}`)
	g.Eventually(reports, soon).Should(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded})), "the last report counts")
}

func TestSanitize(t *testing.T) {
	g := NewWithT(t)
	cut, ok := sanitize(contract.Bootstrap{State: contract.BootstrapFailed, Message: strings.Repeat("ä", maxMessage)})
	g.Expect(ok).To(BeTrue())
	g.Expect(len(cut.Message)).To(BeNumerically("<=", maxMessage))
	g.Expect(cut.Message).To(MatchRegexp("^ä+$"))
}

func TestLinksToTheHostAreNotFollowed(t *testing.T) {
	g := NewWithT(t)
	secret := filepath.Join(t.TempDir(), "secret")
	g.Expect(os.WriteFile(secret, []byte(`{"bootstrap":{"state":"Running"}}`), 0o600)).To(Succeed())
	folder := t.TempDir()
	g.Expect(os.Symlink(secret, filepath.Join(folder, contract.ReportFile))).To(Succeed())
	_, err := readUntrusted(folder)
	g.Expect(err).To(HaveOccurred())

	d := &Driver{options: Options{StateDir: t.TempDir()}}
	logs := filepath.Join(d.folder("one"), "private", "log")
	g.Expect(os.MkdirAll(logs, 0o700)).To(Succeed())
	_, err = d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet})
	g.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%v", err)
	g.Expect(os.Symlink(secret, filepath.Join(logs, kubeletLog))).To(Succeed())
	_, err = d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet})
	g.Expect(err).To(HaveOccurred())
}

func TestPipesAreNotWaitedFor(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(unix.Mkfifo(filepath.Join(folder, contract.ReportFile), 0o600)).To(Succeed())
	d := &Driver{options: Options{StateDir: t.TempDir()}}
	logs := filepath.Join(d.folder("one"), "private", "log")
	g.Expect(os.MkdirAll(logs, 0o700)).To(Succeed())
	g.Expect(unix.Mkfifo(filepath.Join(logs, kubeletLog), 0o600)).To(Succeed())
	for name, open := range map[string]func() error{
		"report": func() error {
			_, err := readUntrusted(folder)
			return err
		},
		"log": func() error {
			_, err := d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet})
			return err
		},
		"followed log": func() error {
			_, err := d.Log(t.Context(), "one", engine.Log{Source: engine.LogKubelet, Follow: true})
			return err
		},
	} {
		opened := make(chan error, 1)
		go func() { opened <- open() }()
		g.Eventually(opened, soon).Should(Receive(MatchError(ContainSubstring("is no regular file"))), name+": nobody ever writes to it")
	}
}

// Opening a device can do something, for example rewind a tape or start a watchdog.
func TestDevicesAreNotOpened(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	path := filepath.Join(folder, contract.ReportFile)
	// No driver has this number, so opening it fails. Everybody may create it.
	g.Expect(unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(0, 0)))).To(Succeed())
	g.Expect(os.Open(path)).Error().To(HaveOccurred())
	_, err := readUntrusted(folder)
	g.Expect(err).To(MatchError(ContainSubstring("is no regular file")))
}

func TestHosts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hosts(contract.Instance{Hostname: "a", Address: "10.0.0.1"})).To(HaveSuffix("\n10.0.0.1 a\n"))
	g.Expect(hosts(contract.Instance{Hostname: "a.b.c", Address: "10.0.0.1"})).To(HaveSuffix("\n10.0.0.1 a.b.c a\n"))
}

func TestMachineID(t *testing.T) {
	g := NewWithT(t)
	g.Expect(machineID("one")).To(MatchRegexp("^[0-9a-f]{32}$"))
	g.Expect(machineID("one")).To(Equal(machineID("one")))
	g.Expect(machineID("one")).NotTo(Equal(machineID("two")))
}
