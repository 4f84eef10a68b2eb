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

package debian

import (
	"archive/tar"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
)

func TestLockIsOfTheList(t *testing.T) {
	g := NewWithT(t)
	packages, err := Packages()
	g.Expect(err).NotTo(HaveOccurred())
	for _, architecture := range []string{"amd64", "arm64"} {
		pins, err := Lock(architecture)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pins).To(HaveLen(len(packages)))
		for _, pin := range pins {
			g.Expect(pin.SHA256).To(MatchRegexp("^[0-9a-f]{64}$"), pin.Name)
			g.Expect(pin.Version).NotTo(BeEmpty(), pin.Name)
		}
	}
	_, err = Lock("riscv64")
	g.Expect(err).To(MatchError("packages.lock has no base-files for riscv64: run make node-packages"))
}

func TestLists(t *testing.T) {
	g := NewWithT(t)
	for list, want := range map[string]string{
		"- name: a": "each needs a name and a reason",
		"- {name: a, reason: b}\n- {name: a, reason: c}": "a is there twice",
		"- {name: a, cause: b}":                          "unknown field",
	} {
		_, err := parsePackages([]byte(list))
		g.Expect(err).To(MatchError(ContainSubstring(want)), list)
	}
	for lock, want := range map[string]string{
		"# nothing\n":       "names no package",
		"amd64 a 1.0\n":     "want architecture, name, version and SHA-256 sum",
		"amd64 a 1 b c d\n": "want architecture, name, version and SHA-256 sum",
	} {
		_, err := parseLock([]byte(lock))
		g.Expect(err).To(MatchError(ContainSubstring(want)), lock)
	}
	pins, err := parseLock([]byte("# comment\namd64 a 1:2 abc\namd64 b 3 def\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pins).To(Equal([]Pin{{Name: "a", Version: "1:2", Architecture: "amd64", SHA256: "abc"}, {Name: "b", Version: "3", Architecture: "amd64", SHA256: "def"}}))
	g.Expect(pins[0].String()).To(Equal("amd64 a 1:2 abc"))
	_, err = choose([]Package{{Name: "a"}}, pins, "amd64")
	g.Expect(err).To(MatchError(ContainSubstring("for amd64 that packages.yaml has not")))
}

// mirror is a folder with packages that apt fetches from.
type mirror struct{ folder string }

func newMirror(t *testing.T) mirror { return mirror{folder: t.TempDir()} }

// add makes a package for amd64 with files, whose names that end in / are folders.
func (m mirror) add(t *testing.T, name, version string, files ...string) Pin {
	t.Helper()
	g := NewWithT(t)
	content := t.TempDir()
	g.Expect(os.Chmod(content, 0o755)).To(Succeed())
	control := "Package: " + name + "\nVersion: " + version + "\nArchitecture: amd64\nMaintainer: A <a@example.com>\nDescription: " + name + "\n"
	write := func(path, text string) {
		path = filepath.Join(content, path)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		g.Expect(os.Chmod(path, 0o755)).To(Succeed())
	}
	write("DEBIAN/control", control)
	for _, file := range files {
		if strings.HasSuffix(file, "/") {
			g.Expect(os.MkdirAll(filepath.Join(content, file), 0o755)).To(Succeed())
			continue
		}
		write(file, "of "+name)
	}
	pin := Pin{Name: name, Version: version, Architecture: "amd64"}
	path := filepath.Join(m.folder, pin.file())
	out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--root-owner-group", "--build", content, path).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	pin.SHA256, err = sumOf(path)
	g.Expect(err).NotTo(HaveOccurred())
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	list, err := os.OpenFile(filepath.Join(m.folder, "Packages"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = fmt.Fprintf(list, "%sFilename: ./%s\nSize: %d\nSHA256: %s\n\n", control, filepath.Base(path), info.Size(), pin.SHA256)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Close()).To(Succeed())
	return pin
}

// fetcher returns one that knows this mirror only.
func (m mirror) fetcher(t *testing.T) Fetcher {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.sources")
	text := "Types: deb\nURIs: file:" + m.folder + "\nSuites: ./\nTrusted: yes\n"
	NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return Fetcher{Folder: t.TempDir(), Sources: []string{path}}
}

func TestFetch(t *testing.T) {
	g := NewWithT(t)
	mirror := newMirror(t)
	one, other := mirror.add(t, "one", "1:2.0+b1", "usr/bin/one"), mirror.add(t, "other", "3", "usr/bin/other")
	fetcher := mirror.fetcher(t)
	paths, err := fetcher.Fetch(t.Context(), []Pin{other, one})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).To(Equal([]string{filepath.Join(fetcher.Folder, "other_3_amd64.deb"), filepath.Join(fetcher.Folder, "one_1%3a2.0+b1_amd64.deb")}))

	g.Expect(os.RemoveAll(mirror.folder)).To(Succeed())
	_, err = fetcher.Fetch(t.Context(), []Pin{one})
	g.Expect(err).NotTo(HaveOccurred(), "what is there is not fetched")
	g.Expect(os.WriteFile(paths[1], []byte("changed"), 0o600)).To(Succeed())
	_, err = fetcher.Fetch(t.Context(), []Pin{one})
	g.Expect(err).To(MatchError(ContainSubstring("DEBIAN_SOURCES")), "what is there is not the package")
}

func TestFetchFromWhereAPackageStillIs(t *testing.T) {
	g := NewWithT(t)
	newer, archive := newMirror(t), newMirror(t)
	newer.add(t, "one", "2", "usr/bin/one")
	pin := archive.add(t, "one", "1", "usr/bin/one")
	fetcher := newer.fetcher(t)
	_, err := fetcher.Fetch(t.Context(), []Pin{pin})
	g.Expect(err).To(MatchError(ContainSubstring("'1' for 'one' was not found")))
	fetcher.Sources = append(fetcher.Sources, archive.fetcher(t).Sources...)
	paths, err := fetcher.Fetch(t.Context(), []Pin{pin})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).To(HaveLen(1))
}

func TestMirrors(t *testing.T) {
	g := NewWithT(t)
	const release = "ID=debian\nVERSION_CODENAME=bookworm\n"
	const targets = "bookworm http://one.example/debian\nbookworm-security http://two.example/security\nbookworm-updates http://one.example/debian\nother http://three.example\n"
	sources, err := mirrorsOf(release, targets)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(sources)).To(And(
		ContainSubstring("URIs: http://one.example/debian\nSuites: trixie trixie-updates\n"),
		ContainSubstring("URIs: http://two.example/security\nSuites: trixie-security\n"), Not(ContainSubstring("three.example"))))
	for _, machine := range [][2]string{{"ID=ubuntu\nVERSION_CODENAME=noble\n", "noble http://one.example"}, {release, "other http://three.example"}, {"", ""}} {
		_, err := mirrorsOf(machine[0], machine[1])
		g.Expect(err).To(MatchError(ContainSubstring("DEBIAN_SOURCES=<file>")))
	}
}

func TestFetchOfAnotherPackage(t *testing.T) {
	g := NewWithT(t)
	mirror := newMirror(t)
	pin := mirror.add(t, "one", "1", "usr/bin/one")
	pin.SHA256 = strings.Repeat("0", 64)
	_, err := mirror.fetcher(t).Fetch(t.Context(), []Pin{pin})
	g.Expect(err).To(MatchError(ContainSubstring("package one 1 for amd64: the SHA-256 sum is")))
	pin.Version = "2"
	_, err = mirror.fetcher(t).Fetch(t.Context(), []Pin{pin})
	g.Expect(err).To(MatchError(And(ContainSubstring("'2' for 'one' was not found"), ContainSubstring("make node-packages"))))
}

func TestResolve(t *testing.T) {
	g := NewWithT(t)
	mirror := newMirror(t)
	mirror.add(t, "one", "1", "usr/bin/one")
	newest := mirror.add(t, "one", "2", "usr/bin/one")
	pins, err := mirror.fetcher(t).Resolve(t.Context(), "amd64", []Package{{Name: "one", Reason: "test"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pins).To(Equal([]Pin{newest}))
	_, err = mirror.fetcher(t).Resolve(t.Context(), "amd64", []Package{{Name: "none", Reason: "test"}})
	g.Expect(err).To(MatchError(ContainSubstring("Unable to locate package none")))
	_, err = Fetcher{Sources: []string{"sources.list"}}.Resolve(t.Context(), "amd64", []Package{{Name: "one", Reason: "test"}})
	g.Expect(err).To(MatchError(ContainSubstring("ends in .sources")))
}

func TestFiles(t *testing.T) {
	g := NewWithT(t)
	mirror := newMirror(t)
	pins := []Pin{
		mirror.add(t, "one", "1", "usr/bin/one", "usr/share/man/man1/one.1.gz", "usr/share/doc/one/copyright", "usr/share/doc/one/changelog.gz", "var/run/"),
		mirror.add(t, "other", "1", "usr/bin/other", "usr/lib/x/gconv/a.so"),
	}
	fetcher := mirror.fetcher(t)
	paths, err := fetcher.Fetch(t.Context(), pins)
	g.Expect(err).NotTo(HaveOccurred())
	files, err := Files(t.Context(), paths)
	g.Expect(err).NotTo(HaveOccurred())
	byPath := map[string]image.File{}
	for _, file := range files {
		g.Expect(byPath).NotTo(HaveKey(file.Path))
		byPath[file.Path] = file
	}
	g.Expect(byPath["usr/bin/one"]).To(Equal(image.Regular("usr/bin/one", 0o755, []byte("of one"))))
	g.Expect(byPath["usr/bin"]).To(Equal(image.Folder("usr/bin", 0o755)), "both have it")
	g.Expect(byPath["var/run"]).To(And(HaveField("Kind", byte(tar.TypeSymlink)), HaveField("Target", "/run")))
	g.Expect(byPath).To(And(HaveKey("usr/bin/other"), HaveKey("usr/share/doc/one/copyright")))
	for _, left := range []string{"usr/share/man", "usr/share/man/man1/one.1.gz", "usr/share/doc/one/changelog.gz", "usr/lib/x/gconv/a.so"} {
		g.Expect(byPath).NotTo(HaveKey(left))
	}
	g.Expect(string(byPath["var/lib/dpkg/status.d/one"].Content)).To(ContainSubstring("Package: one\nVersion: 1\n"))

	again := mirror.add(t, "again", "1", "usr/bin/one")
	_, err = Files(t.Context(), append(paths, filepath.Join(mirror.folder, again.file())))
	g.Expect(err).To(MatchError(ContainSubstring("usr/bin/one is in an earlier package too")))
}
