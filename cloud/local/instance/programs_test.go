// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
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

func TestLayersAreKeptAsLongAsAnInstanceHasThem(t *testing.T) {
	g := NewWithT(t)
	images := t.TempDir()
	program := filepath.Join(images, "v1.36.3", kubernetesProgram)
	build := func(text string, at time.Time) {
		g.Expect(os.MkdirAll(filepath.Dir(program), 0o755)).To(Succeed())
		g.Expect(os.RemoveAll(program)).To(Succeed())
		g.Expect(os.WriteFile(program, []byte(text), 0o755)).To(Succeed())
		g.Expect(os.Chtimes(program, at, at)).To(Succeed())
	}
	build("first", time.Unix(1, 0))
	g.Expect(os.Symlink(kubernetesProgram, filepath.Join(filepath.Dir(program), "kubelet"))).To(Succeed())
	state := t.TempDir()
	d := &Driver{options: Options{StateDir: state, ImagesDir: images, AgentDir: filepath.Join(state, agentLayers, "now"), SystemDir: "/system"}}
	for _, folder := range []string{d.options.AgentDir, filepath.Join(state, agentLayers, "before"), d.folder("one"), d.folder("two")} {
		g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	}
	kubelet := func(id string) (layer, text string) {
		layers, err := d.layers(starting(id, false))
		g.Expect(err).NotTo(HaveOccurred())
		list := strings.Split(layers, ":")
		g.Expect(list).To(And(HaveLen(4), ContainElements(d.options.AgentDir, "/system")))
		content, err := os.ReadFile(filepath.Join(list[2], "opt/foo/kubernetes/kubelet"))
		g.Expect(err).NotTo(HaveOccurred())
		return list[2], string(content)
	}
	first, text := kubelet("one")
	g.Expect(text).To(Equal("first"))
	again, _ := kubelet("two")
	g.Expect(again).To(Equal(first), "it is shared")
	build("second", time.Unix(2, 0))
	second, text := kubelet("two")
	g.Expect(text).To(Equal("second"))
	g.Expect(os.ReadFile(filepath.Join(first, "opt/foo/kubernetes/kubernetes"))).To(Equal([]byte("first")), "instances that run keep theirs")

	g.Expect(os.MkdirAll(d.folder("old"), 0o755)).To(Succeed())
	g.Expect(d.removeUnusedLayers([]string{"two", "old"})).To(Succeed())
	g.Expect(first).To(BeADirectory(), "nobody knows what an instance of an earlier version has")
	g.Expect(d.removeUnusedLayers([]string{"one", "two", "ordered"})).To(Succeed())
	g.Expect([]string{first, second, d.options.AgentDir}).To(HaveEach(BeADirectory()))
	g.Expect(filepath.Join(state, agentLayers, "before")).NotTo(BeADirectory())
	g.Expect(d.removeUnusedLayers([]string{"two"})).To(Succeed())
	g.Expect(first).NotTo(BeADirectory())
	g.Expect(second).To(BeADirectory())
}

// An earlier version had the umask of its caller.
func TestFoldersOfAnEarlierVersionAreOpened(t *testing.T) {
	g := NewWithT(t)
	before := unix.Umask(0o077)
	t.Cleanup(func() { unix.Umask(before) })
	images, state := t.TempDir(), t.TempDir()
	d := &Driver{options: Options{StateDir: state, ImagesDir: images, AgentDir: filepath.Join(state, agentLayers, "now"), SystemDir: t.TempDir()}}
	upper := filepath.Join(d.disk("one"), upperFolder)
	for _, folder := range []string{filepath.Join(d.options.AgentDir, contract.AgentDir), filepath.Join(images, "v1.36.3"), upper} {
		g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	}
	g.Expect(os.WriteFile(filepath.Join(images, "v1.36.3", kubernetesProgram), nil, 0o755)).To(Succeed())
	kubernetes, err := d.kubernetesLayer("v1.36.3")
	g.Expect(err).NotTo(HaveOccurred())
	programs := []string{
		filepath.Join(d.options.AgentDir, "opt"), filepath.Join(d.options.AgentDir, "opt/foo/bin"),
		filepath.Join(kubernetes, "opt/foo"), filepath.Join(kubernetes, "opt/foo/kubernetes"),
	}
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		return info.Mode().Perm()
	}
	g.Expect(append(programs, upper)).To(HaveEach(WithTransform(mode, BeEquivalentTo(0o700))))

	unix.Umask(0o022)
	g.Expect(d.makeFolders(starting("one", true))).To(Succeed())
	g.Expect(mode(upper)).To(Equal(publicMode))
	for _, keepDisk := range []bool{false, true} {
		g.Expect(d.layers(starting("one", keepDisk))).To(ContainSubstring(kubernetes))
		for _, path := range programs {
			g.Expect(mode(path)).To(Equal(publicMode), path)
			g.Expect(os.Chmod(path, 0o700)).To(Succeed())
		}
	}
}

func starting(id string, keepDisk bool) engine.MachineSpec {
	return engine.MachineSpec{Instance: cloud.Instance{ID: id, KubernetesVersion: "v1.36.3"}, KeepDisk: keepDisk}
}

// After an upgrade, the new system may lack the container images that an instance needs.
func TestInstancesThatStartAgainKeepTheirSystem(t *testing.T) {
	g := NewWithT(t)
	images, state, systems := t.TempDir(), t.TempDir(), t.TempDir()
	newer := func(name string) *Driver {
		d := &Driver{options: Options{
			StateDir: state, ImagesDir: images, AgentDir: filepath.Join(state, agentLayers, name), SystemDir: filepath.Join(systems, name),
		}}
		program := filepath.Join(images, "v1.36.3", kubernetesProgram)
		g.Expect(os.RemoveAll(program)).To(Succeed())
		for _, folder := range []string{filepath.Dir(program), d.options.AgentDir, d.options.SystemDir, filepath.Join(d.folder("one"), identityFolder)} {
			g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
		}
		g.Expect(os.WriteFile(program, []byte(name), 0o755)).To(Succeed())
		return d
	}
	before, err := newer("before").layers(starting("one", false))
	g.Expect(err).NotTo(HaveOccurred())
	d := newer("now")
	g.Expect(d.layers(starting("one", true))).To(Equal(before))
	g.Expect(d.removeUnusedLayers([]string{"one"})).To(Succeed())
	g.Expect(d.layers(starting("one", true))).To(Equal(before))

	// An instance without a disk gets what is new, and so does one whose system is gone.
	now, err := d.layers(starting("two", true))
	g.Expect(err).To(MatchError(os.ErrNotExist), "it has no folder")
	g.Expect(now).To(BeEmpty())
	g.Expect(os.Remove(filepath.Join(systems, "before"))).To(Succeed())
	now, err = d.layers(starting("one", true))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now).To(And(HaveSuffix(":"+d.options.SystemDir), ContainSubstring(":"+d.options.AgentDir+":"), Not(ContainSubstring("before"))))
	g.Expect(os.ReadFile(filepath.Join(d.folder("one"), layersFile))).To(BeEquivalentTo(now))
}
