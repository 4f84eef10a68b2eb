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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
)

// soon is how long an event of the file system may take on a busy machine.
const soon = 10 * time.Second

func write(t *testing.T, folder, text string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.WriteFile(filepath.Join(folder, "new"), []byte(text), 0o600)).To(Succeed())
	g.Expect(os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, reportFile))).To(Succeed())
}

func TestReports(t *testing.T) {
	g := NewWithT(t)
	r, err := newReports()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = r.close() })
	folder := t.TempDir()
	reportFolder := filepath.Join(folder, "report")
	g.Expect(os.Mkdir(reportFolder, 0o700)).To(Succeed())
	write(t, reportFolder, `{"phase":"Booting","bootstrap":{"state":"Pending"}}`)
	reports, err := r.watch("one", folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reports).To(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapPending})), "what is there already counts")
	write(t, reportFolder, `{"phase":"Running","bootstrap":{"state":"Running"}}`)
	g.Eventually(reports, soon).Should(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapRunning})), "a change is an event")
	for _, text := range []string{"", "{", `{"bootstrap":{"state":"Odd"}}`, `{"bootstrap":7}`} {
		write(t, reportFolder, text)
	}
	write(t, reportFolder, `{"bootstrap":{"state":"Failed","message":"m"}}`)
	g.Eventually(reports, soon).Should(Receive(Equal(cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "m"})), "what makes no sense is left out")
	r.forget("one")
	write(t, reportFolder, `{"bootstrap":{"state":"Succeeded"}}`)
	g.Consistently(reports, "100ms").ShouldNot(Receive(), "nobody watches it any more")
}

func TestSanitize(t *testing.T) {
	g := NewWithT(t)
	cut, ok := sanitize(cloud.Bootstrap{State: cloud.BootstrapFailed, Message: strings.Repeat("ä", maxMessage)})
	g.Expect(ok).To(BeTrue())
	g.Expect(len(cut.Message)).To(BeNumerically("<=", maxMessage))
	g.Expect(cut.Message).To(MatchRegexp("^ä+$"))
}

func TestLinksToTheHostAreNotFollowed(t *testing.T) {
	g := NewWithT(t)
	secret := filepath.Join(t.TempDir(), "secret")
	g.Expect(os.WriteFile(secret, []byte(`{"bootstrap":{"state":"Running"}}`), 0o600)).To(Succeed())
	folder := t.TempDir()
	g.Expect(os.Symlink(secret, filepath.Join(folder, reportFile))).To(Succeed())
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
	g.Expect(unix.Mkfifo(filepath.Join(folder, reportFile), 0o600)).To(Succeed())
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

func TestHosts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hosts(metadata{Hostname: "a", Address: "10.0.0.1"})).To(HaveSuffix("\n10.0.0.1 a\n"))
	g.Expect(hosts(metadata{Hostname: "a.b.c", Address: "10.0.0.1"})).To(HaveSuffix("\n10.0.0.1 a.b.c a\n"))
}

func TestMachineID(t *testing.T) {
	g := NewWithT(t)
	g.Expect(machineID("one")).To(MatchRegexp("^[0-9a-f]{32}$"))
	g.Expect(machineID("one")).To(Equal(machineID("one")))
	g.Expect(machineID("one")).NotTo(Equal(machineID("two")))
}

func TestGoAhead(t *testing.T) {
	g := NewWithT(t)
	g.Expect(awaitGoAhead(strings.NewReader("\ng"))).To(Succeed())
	g.Expect(awaitGoAhead(strings.NewReader("\n"))).NotTo(Succeed(), "an instance that is not stored must not go on")
}
