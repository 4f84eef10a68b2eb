//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const packed = "foo-v0.1.0-linux-arm64"

// packing is a release of one architecture, made of small programs.
type packing struct {
	// version of the release, and the version that its programs say; architecture as Go writes it.
	version, said, architecture string
	// system is the ID of the nodes' operating system.
	system string
}

var arm = packing{version: "v0.1.0", said: "v0.1.0", architecture: "arm64", system: "1234"}

// pack packs small programs, and returns the folder with the packages.
func (p packing) pack(t *testing.T) string {
	t.Helper()
	said, folder, err := p.build(t)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), said)
	return folder
}

// build returns what the script prints, and the folder with the packages.
func (p packing) build(t *testing.T) (said, folder string, err error) {
	t.Helper()
	g := NewWithT(t)
	native, output := t.TempDir(), t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(native, "tools"), 0o700)).To(Succeed())
	g.Expect(os.Symlink(nfpm(g), filepath.Join(native, "tools/nfpm"))).To(Succeed())
	for _, name := range []string{"foo", "foocloud"} {
		write(t, filepath.Join(native, name), "#!/bin/sh\n[ $1 = reference ] && exec touch $3/"+name+".1\necho \"$1 of "+name+" for $2\"\n")
	}
	write(t, filepath.Join(native, "manifests/foo/foo-components.yaml"), "kind: Deployment\n")
	g.Expect(os.Chmod(filepath.Join(native, "manifests/foo/foo-components.yaml"), 0o600)).To(Succeed())
	write(t, filepath.Join(native, "manifests/.current"), "")

	programs := filepath.Join(native, "programs")
	for _, name := range []string{"cluster-api/v1.14.2/core-components.yaml", "images/providers.tar", "clusterctl.yaml", "sbom/manager.cdx.json"} {
		write(t, filepath.Join(programs, "management", name), name)
	}
	for _, name := range []string{
		"foo", "foocloud", "foonode", "manager", "runtime-extension", "etcd-snapshot", "tools/clusterctl", "tools/core", "tools/kubeadm-bootstrap",
		"tools/kubeadm-control-plane", "kubernetes/v1.36.3/kubernetes", "kubernetes/v1.35.4/kubernetes", "systems/old/id", "systems/" + p.system + "/etc/passwd",
	} {
		write(t, filepath.Join(programs, name), "#!/bin/sh\necho "+name+" "+p.said+"\n")
	}
	system := filepath.Join(programs, "systems", p.system)
	g.Expect(os.MkdirAll(filepath.Join(system, "usr/bin"), 0o755)).To(Succeed())
	g.Expect(os.Link(filepath.Join(programs, "kubernetes/v1.36.3/kubernetes"), filepath.Join(system, "usr/bin/kubernetes"))).To(Succeed())
	g.Expect(os.Chmod(filepath.Join(system, "etc/passwd"), 0o644|os.ModeSetgid)).To(Succeed())
	g.Expect(os.Symlink("systems/"+p.system, filepath.Join(programs, "system"))).To(Succeed())
	for _, kind := range []string{".cdx.json", ".licenses.txt"} {
		write(t, filepath.Join(output, "sbom", p.name()+kind), kind)
	}

	script := exec.CommandContext(t.Context(), "./archive.sh", p.architecture, p.version, native, programs, output, kubernetesVersion)
	script.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=86400", "TZ=UTC")
	all, err := script.CombinedOutput()
	return string(all), filepath.Join(output, "packages"), err
}

// name is the name of all packages of the release, without the format.
func (p packing) name() string { return "foo-" + p.version + "-linux-" + p.architecture }

func nfpm(g *WithT) string {
	path, err := filepath.Abs("../bin/tools/nfpm")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path).To(BeAnExistingFile(), "make test-integration builds it")
	return path
}

const kubernetesVersion = "v1.36.3"

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stderr = os.Stderr
	said, err := command.Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(said))
	return string(said)
}

// listed returns the lines of a list with everything but the mode and the path removed.
func listed(list, prefix string) []string {
	var lines []string
	for _, line := range regexp.MustCompile(`(?m)^(\S+) .*? (?:\./|/)?(`+prefix+`.*)$`).FindAllStringSubmatch(list, -1) {
		lines = append(lines, line[1]+" "+line[2])
	}
	return lines
}

var packagedFiles = []string{
	"lrwxrwxrwx usr/bin/foo -> /usr/lib/foo/foo", "lrwxrwxrwx usr/bin/foocloud -> /usr/lib/foo/foocloud",
	"-rwxr-xr-x usr/lib/foo/foo", "-rwxr-xr-x usr/lib/foo/foocloud", "-rwxr-xr-x usr/lib/foo/foonode", "-rwxr-xr-x usr/lib/foo/manager",
	"-rwxr-xr-x usr/lib/foo/runtime-extension", "-rwxr-xr-x usr/lib/foo/nodes.sh", "-rwxr-xr-x usr/lib/foo/removable.sh", "-rwxr-xr-x usr/lib/foo/unused.sh", "-rwxr-xr-x usr/lib/foo/tools/core", "-rwxr-xr-x usr/lib/foo/tools/clusterctl",
	"-rw-r--r-- usr/lib/foo/manifests/foo/foo-components.yaml", "-rw-r--r-- usr/lib/foo/management/images/providers.tar", "-rw-r--r-- usr/lib/foo/nodes.tar.gz", "-rw-r--r-- usr/lib/foo/VERSION",
	"-rw-r--r-- usr/lib/foo/" + packed + ".licenses.txt", "-rw-r--r-- usr/lib/foo/completion/foo.bash",
	"lrwxrwxrwx usr/share/bash-completion/completions/foo -> /usr/lib/foo/completion/foo.bash",
	"-rw-r--r-- usr/share/man/man1/foo.1", "-rw-r--r-- usr/share/man/man1/foocloud.1",
	"-rw-r--r-- usr/lib/systemd/system/foocloud.service", "-rw-r--r-- usr/share/doc/foo/copyright",
}

func TestPackages(t *testing.T) {
	g := NewWithT(t)
	folder := arm.pack(t)
	archive, deb, rpm := filepath.Join(folder, packed+".tar.gz"), filepath.Join(folder, packed+".deb"), filepath.Join(folder, packed+".rpm")

	files := run(t, "tar", "-tvzf", archive)
	g.Expect(listed(files, packed)).To(ContainElements(
		"-rwxr-xr-x "+packed+"/foo", "-rwxr-xr-x "+packed+"/install.sh", "-rwxr-xr-x "+packed+"/nodes.sh", "-rw-r--r-- "+packed+"/LICENSE", "-rw-r--r-- "+packed+"/README.md",
		"-rw-r--r-- "+packed+"/foocloud.service", "lrwxrwxrwx "+packed+"/system -> systems/1234", "-rw-r-Sr-- "+packed+"/systems/1234/etc/passwd",
		"hrwxr-xr-x "+packed+"/systems/1234/usr/bin/kubernetes link to "+packed+"/kubernetes/v1.36.3/kubernetes",
		"-rw-r--r-- "+packed+"/manifests/foo/foo-components.yaml", "-rw-r--r-- "+packed+"/"+packed+".cdx.json",
		"-rw-r--r-- "+packed+"/management/cluster-api/v1.14.2/core-components.yaml", "-rw-r--r-- "+packed+"/man/foocloud.1",
	))
	g.Expect(files).NotTo(Or(ContainSubstring("management/clusterctl"), ContainSubstring("management/sbom"), ContainSubstring("v1.35.4"), ContainSubstring("old"), ContainSubstring("etcd-snapshot"), ContainSubstring(".current")))

	files = strings.ReplaceAll(run(t, "dpkg-deb", "--contents", deb), "l---------", "lrwxrwxrwx")
	g.Expect(listed(files, "usr/")).To(ContainElements(packagedFiles))
	g.Expect(files).NotTo(Or(ContainSubstring("install.sh"), ContainSubstring("systems")))
	g.Expect(run(t, "dpkg-deb", "--field", deb, "Architecture", "Version", "Depends")).To(Equal("Architecture: arm64\nVersion: 0.1.0\nDepends: gzip, runc, tar\n"))
	files = strings.ReplaceAll(run(t, "rpm", "-qlvp", rpm), "l---------", "lrwxrwxrwx")
	g.Expect(listed(files, "usr/")).To(ContainElements(packagedFiles))
	g.Expect(run(t, "rpm", "-qp", "--queryformat", "%{ARCH} %{VERSION} %{LICENSE}", "--requires", rpm)).To(Equal("aarch64 0.1.0 Apache-2.0gzip\nrunc\ntar\n"))

	// What is in nodes.tar.gz must be the same in both.
	root := t.TempDir()
	run(t, "dpkg-deb", "--extract", deb, root)
	nodes := run(t, "tar", "-tzf", filepath.Join(root, "usr/lib/foo/nodes.tar.gz"))
	g.Expect(nodes).To(And(ContainSubstring("\nsystem\n"), ContainSubstring("\nsystems/1234/etc/passwd\n"), HavePrefix("kubernetes/\n")))

	g.Expect(os.ReadFile(filepath.Join(root, "usr/lib/foo/completion/foocloud.fish"))).To(BeEquivalentTo("completion of foocloud for fish\n"))
	// systemd finds the program of the unit, and all that the unit names.
	for _, name := range []string{"sysinit.target", "basic.target", "shutdown.target", "network-online.target"} {
		write(t, filepath.Join(root, "usr/lib/systemd/system", name), "[Unit]\nDescription="+name+"\nDefaultDependencies=no\n")
	}
	run(t, "systemd-analyze", "verify", "--man=no", "--root", root, "foocloud.service")
	// The unit says why it cannot be lower: instances inherit its settings.
	run(t, "systemd-analyze", "security", "--offline=true", "--threshold=90", "--root", root, "foocloud.service")
}

// Who verifies a release packs it at another time and in other folders.
func TestPackagesAreReproducible(t *testing.T) {
	g := NewWithT(t)
	first, second := arm.pack(t), arm.pack(t)
	for _, format := range []string{".tar.gz", ".deb", ".rpm"} {
		one, err := os.ReadFile(filepath.Join(first, packed+format))
		g.Expect(err).NotTo(HaveOccurred())
		other, err := os.ReadFile(filepath.Join(second, packed+format))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bytes.Equal(one, other)).To(BeTrue(), format)
	}
}

func TestSums(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	for _, name := range []string{"control-plane-foo/v0.1.0/metadata.yaml", "images/manager v0.1.1.tar", "packages/install.sh", "clusterctl.yaml"} {
		write(t, filepath.Join(output, name), name)
	}
	sums := filepath.Join(output, "SHA256SUMS")
	write(t, sums, "of an earlier build\n")
	for range 2 {
		run(t, "../hack/sums.sh", output)
		content, err := os.ReadFile(sums)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(content)).To(MatchRegexp(`^\w{64}  control-plane-foo/\S+\n\w{64}  images/\S+ \S+\n\w{64}  packages/\S+\n$`))
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	check.Dir = output
	said, err := check.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(said))
}

func TestProgramsOfAnotherVersionAreNotPacked(t *testing.T) {
	g := NewWithT(t)
	stale := arm
	stale.said = "v0.1.0-dev"
	said, _, err := stale.build(t)
	g.Expect(err).To(MatchError("exit status 1"))
	g.Expect(said).To(ContainSubstring("foo version of arm64 says 'foo v0.1.0-dev', not v0.1.0: build it for this release\n"))
}
