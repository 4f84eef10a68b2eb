// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// repack changes what is in an archive, and gives it another name.
func repack(t *testing.T, archive, name string, change func(folder string)) string {
	t.Helper()
	folder := t.TempDir()
	say := func(program string, args ...string) {
		said, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(said))
	}
	say("tar", "-xzf", archive, "-C", folder)
	packed := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	change(filepath.Join(folder, packed))
	other := filepath.Join(folder, name)
	say("tar", "-czf", other, "-C", folder, packed)
	return other
}

// An archive that this host cannot use changes nothing, whether there was Foo before or not.
func TestArchivesThatAreRefused(t *testing.T) {
	without := func(part string) func(*testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			return repack(t, release(t, "v0.2.0"), "some.tar.gz", func(folder string) { remove(t, filepath.Join(folder, part)) })
		}
	}
	const fromTar = "(((tar|gzip): .*)?\n)+"
	cut := func(size int) func(*testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			content, err := os.ReadFile(release(t, "v0.2.0"))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			archive := filepath.Join(t.TempDir(), "some.tar.gz")
			write(t, archive, string(content[:size]))
			return archive
		}
	}
	for name, test := range map[string]struct {
		archive func(*testing.T) string
		want    string
		// reasons matches the lines that tar prints before.
		reasons string
	}{
		"another architecture": {func(t *testing.T) string {
			t.Helper()
			return repack(t, release(t, "v0.2.0"), "foo-v0.2.0-linux-arm64.tar.gz", func(string) {})
		}, "foo-v0.2.0-linux-arm64.tar.gz is for arm64, and this host is amd64: download the one for amd64\n", ""},
		"cut off":   {cut(1 << 17), "some.tar.gz cannot be unpacked, for the reason above: solve that, or download it again\n", fromTar},
		"empty":     {cut(0), "some.tar.gz cannot be unpacked, for the reason above: solve that, or download it again\n", fromTar},
		"no unit":   {without("foocloud.service"), "is no release of Foo, since it lacks foocloud.service: name one\n", ""},
		"no system": {without("systems"), "is no release of Foo, since it lacks system/etc: name one\n", ""},
		"no files": {func(t *testing.T) string {
			t.Helper()
			return repack(t, release(t, "v0.2.0"), "some.tar.gz", func(folder string) {
				remove(t, folder)
				write(t, filepath.Join(folder, "mine"), "")
			})
		}, "is no release of Foo, since it lacks VERSION: name one\n", ""},
		"program of another machine": {func(t *testing.T) string {
			t.Helper()
			return repack(t, release(t, "v0.2.0"), "some.tar.gz", func(folder string) { write(t, filepath.Join(folder, "foocloud"), "\x7fELF") })
		}, "some.tar.gz does not run on this host: use the archive for amd64, and a folder that is not mounted with noexec\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			parent := t.TempDir()
			prefix := filepath.Join(parent, "prefix")
			archive := test.archive(t)
			for _, there := range []string{"", release(t, "v0.1.0")} {
				if there != "" {
					said, code := m.install(t, "--prefix", prefix, there)
					g.Expect(code).To(BeZero(), said)
				}
				before := tree(g, parent)
				said, code := m.install(t, "--prefix", prefix, archive)
				g.Expect(said).To(MatchRegexp("^" + test.reasons + "install.sh: the .*\n$"))
				g.Expect(said).To(HaveSuffix(test.want))
				g.Expect(code).To(Equal(2))
				g.Expect(tree(g, parent)).To(Equal(before))
			}
			g.Expect(os.ReadFile(filepath.Join(prefix, "bin/foo"))).To(BeEquivalentTo(script("foo v0.1.0")))
		})
	}
}
