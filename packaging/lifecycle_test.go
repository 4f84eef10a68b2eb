//go:build integration && host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/sets"
)

// first and second are releases for this machine that follow each other.
var (
	first  = packing{version: "v0.1.0", said: "v0.1.0", architecture: runtime.GOARCH, system: "1234"}
	second = packing{version: "v0.2.0", said: "v0.2.0", architecture: runtime.GOARCH, system: "5678"}
)

// chroot is a root folder with Debian, in which programs run.
type chroot string

func newChroot(t *testing.T) chroot {
	t.Helper()
	NewWithT(t).Expect(os.Geteuid()).To(BeZero(), "only root can install packages")
	root := t.TempDir()
	run(t, "tar", "-C", root, "--numeric-owner", "--exclude", "./dev/*", "-xpf", "../bin/systems/"+runtime.GOARCH+".tar")
	write(t, filepath.Join(root, "dev/null"), "")
	c := chroot(root)
	NewWithT(t).Expect(os.MkdirAll(filepath.Dir(c.path(enabled)), 0o755)).To(Succeed())
	return c
}

func (c chroot) path(name string) string { return filepath.Join(string(c), name) }

// run runs a program in the chroot, and returns all that it says.
func (c chroot) run(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "chroot", append([]string{string(c), program}, args...)...)
	command.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	said, err := command.CombinedOutput()
	return string(said), err
}

// must runs a program that must succeed.
func (c chroot) must(t *testing.T, program string, args ...string) string {
	t.Helper()
	said, err := c.run(t, program, args...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), said)
	return said
}

// names lists what is in the chroot, except for the records of package managers.
func (c chroot) names(t *testing.T) []string {
	t.Helper()
	said := run(t, "find", string(c), "-path", c.path("var/lib/dpkg"), "-prune", "-o", "-path", c.path("var/lib/rpm"), "-prune", "-o",
		"-path", c.path("var/log"), "-prune", "-o", "-path", c.path("var/cache"), "-prune", "-o", "-name", "*.deb", "-o", "-print")
	return strings.Fields(strings.ReplaceAll(said, string(c), ""))
}

// changes lists what has come and gone since.
func (c chroot) changes(t *testing.T, before []string) []string {
	t.Helper()
	now := c.names(t)
	had, has := sets.New(before...), sets.New(now...)
	var changes []string
	for _, name := range sets.List(has.Difference(had)) {
		changes = append(changes, "new: "+name)
	}
	for _, name := range sets.List(had.Difference(has)) {
		changes = append(changes, "gone: "+name)
	}
	return changes
}

// enabled is the link that `systemctl enable` makes.
const enabled = "etc/systemd/system/multi-user.target.wants/foocloud.service"

// state puts files where the service and its administrator have them, who has enabled it.
func (c chroot) state(t *testing.T) {
	t.Helper()
	for _, name := range []string{"var/lib/foocloud/token", "var/lib/foo/lock", "var/lib/foo-quickstart/env", "etc/default/foocloud"} {
		write(t, c.path(name), "mine")
	}
	NewWithT(t).Expect(os.Symlink("/usr/lib/systemd/system/foocloud.service", c.path(enabled))).To(Succeed())
}

// start makes it look as if an instance of the first release ran.
func (c chroot) start(t *testing.T) {
	t.Helper()
	write(t, c.path("proc/7/mounts"), "overlay /var/lib/foocloud/instances/1/root overlay rw,lowerdir=/usr/lib/foo/systems/1234 0 0\n")
}

// expectUpgraded expects the second release, the state, and the operating system that the instance of the first has.
func (c chroot) expectUpgraded(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(c.must(t, "/usr/bin/foo", "version")).To(Equal("foo v0.2.0\n"))
	g.Expect(os.Readlink(c.path("usr/lib/foo/system"))).To(Equal("systems/5678"))
	g.Expect(c.path("usr/lib/foo/systems/1234/etc/passwd")).To(BeAnExistingFile())
	g.Expect(os.ReadFile(c.path("var/lib/foocloud/token"))).To(BeEquivalentTo("mine"))
	g.Expect(os.ReadFile(c.path("etc/default/foocloud"))).To(BeEquivalentTo("mine"))
	g.Expect(os.Readlink(c.path(enabled))).To(Equal("/usr/lib/systemd/system/foocloud.service"), "the service is still enabled")
}

// inUse tells which files instances and containers have.
func (c chroot) inUse(t *testing.T) []string {
	t.Helper()
	return identities(t, c.path("usr/lib/foo"), "systems", "kubernetes")
}

// expectInUse expects that a removal fails while the instance runs, and changes nothing. Then it ends the instance.
func (c chroot) expectInUse(t *testing.T, remove ...string) {
	t.Helper()
	g := NewWithT(t)
	refused := func(why string) {
		before := c.names(t)
		said, err := exec.CommandContext(t.Context(), remove[0], remove[1:]...).CombinedOutput()
		g.Expect(err).To(HaveOccurred())
		g.Expect(string(said)).To(ContainSubstring(why))
		g.Expect(c.changes(t, before)).To(BeEmpty())
	}
	running := c.inUse(t)
	refused("instances of a cloud use /usr/lib/foo: delete those of foo with: foo delete cluster NAME, or: foo quickstart delete --state-dir=/var/lib/foo; for the service, delete its clusters, and run: systemctl stop foocloud && foocloud destroy")
	g.Expect(c.inUse(t)).To(Equal(running))
	c.expectUpgraded(t)
	g.Expect(os.RemoveAll(c.path("proc/7"))).To(Succeed())

	// The management cluster runs without instances too.
	g.Expect(os.MkdirAll(c.path("proc/8"), 0o700)).To(Succeed())
	g.Expect(os.Symlink("/usr/lib/foo/foo", c.path("proc/8/exe"))).To(Succeed())
	refused("programs of /usr/lib/foo are running: end them; a management cluster ends with: foo stop; the service ends with: systemctl disable --now foocloud\n")
	g.Expect(os.RemoveAll(c.path("proc/8"))).To(Succeed())

	// After a reboot, nothing runs.
	write(t, c.path("var/lib/foo/cloud/instances/2/layers"), "/var/lib/foo/cloud/agent/1:/usr/lib/foo/systems/1234")
	refused("clusters are stopped, and nothing else could delete their disks and keys in /var/lib/foo: delete them first with: ")
	g.Expect(os.RemoveAll(c.path("var/lib/foo/cloud"))).To(Succeed())
}

// expectStateInUse expects that the removed package is not purged while another installation has an
// instance or a program with its state there, or instances that do not run. It leaves instances that
// no installation can start.
func (c chroot) expectStateInUse(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	before := c.names(t)
	purge := func(folder string) {
		said, err := c.run(t, "dpkg", "--purge", "foo")
		g.Expect(err).To(HaveOccurred())
		g.Expect(said).To(ContainSubstring("another installation of Foo uses /var/lib/" + folder + ": delete its clusters, end its programs, and repeat this\n"))
	}
	instance, program := c.path("proc/7"), c.path("proc/8")
	write(t, filepath.Join(instance, "mounts"), "overlay / overlay rw,lowerdir=/usr/local/lib/foo/systems/1234,upperdir=/var/lib/foocloud/instances/1/upper 0 0\n")
	purge("foocloud")
	g.Expect(os.RemoveAll(instance)).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(program, "fd"), 0o700)).To(Succeed())
	g.Expect(os.Symlink("/srv/quickstart/lock", filepath.Join(program, "fd", "3"))).To(Succeed(), "where the link leads")
	purge("foo-quickstart")
	g.Expect(os.RemoveAll(program)).To(Succeed())
	g.Expect(c.changes(t, before)).To(BeEmpty())

	// After a reboot, nothing runs.
	write(t, c.path("var/lib/foo/cloud/instances/2/layers"), "/var/lib/foo/cloud/agent/1:/usr/lib/foo/systems/1234")
	write(t, c.path("srv/quickstart/cloud/instances/3/layers"), "/var/lib/foo-quickstart/cloud/agent/1:/opt/foo/lib/foo/systems/1234")
	before = c.names(t)
	for installation, folder := range map[string]string{"usr/local/lib/foo": "foo", "usr/sbin": "foo", "opt/foo/lib/foo": "foo-quickstart"} {
		write(t, c.path(installation+"/foocloud"), "")
		purge(folder)
		g.Expect(os.Remove(c.path(installation + "/foocloud"))).To(Succeed())
	}
	g.Expect(errors.Join(os.RemoveAll(c.path("usr/local/lib/foo")), os.RemoveAll(c.path("opt/foo")))).To(Succeed())
	g.Expect(c.changes(t, before)).To(BeEmpty())
}

func (c chroot) copy(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	write(t, c.path(filepath.Base(path)), string(content))
	return "/" + filepath.Base(path)
}

// runc makes an empty package of that name, for a Debian package to depend on.
func (c chroot) runc(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	config := filepath.Join(folder, "nfpm.yaml")
	write(t, config, "name: runc\narch: "+runtime.GOARCH+"\nversion: v1.1.0\nmaintainer: Nobody\ndescription: empty\n")
	target := filepath.Join(folder, "runc.deb")
	run(t, nfpm(NewWithT(t)), "package", "--config", config, "--packager", "deb", "--target", target)
	return c.copy(t, target)
}

func TestDebianPackage(t *testing.T) {
	g := NewWithT(t)
	c := newChroot(t)
	one := c.copy(t, filepath.Join(first.pack(t), first.name()+".deb"))
	two := c.copy(t, filepath.Join(second.pack(t), second.name()+".deb"))

	said, err := c.run(t, "dpkg", "--install", one)
	g.Expect(err).To(HaveOccurred())
	g.Expect(said).To(ContainSubstring("foo depends on runc"))
	c.must(t, "dpkg", "--purge", "foo")
	c.must(t, "dpkg", "--install", c.runc(t))
	before := c.names(t)

	c.must(t, "dpkg", "--install", one)
	g.Expect(c.must(t, "/usr/bin/foo", "version")).To(Equal("foo v0.1.0\n"))
	g.Expect(os.Readlink(c.path("usr/lib/foo/system"))).To(Equal("systems/1234"))
	c.state(t)
	c.start(t)
	c.must(t, "dpkg", "--install", two)
	c.expectUpgraded(t)
	running := c.inUse(t)
	c.must(t, "dpkg", "--install", two)
	g.Expect(c.inUse(t)).To(Equal(running))
	c.expectInUse(t, "chroot", string(c), "dpkg", "--remove", "foo")
	c.must(t, "dpkg", "--install", two)
	g.Expect(c.path("usr/lib/foo/systems/1234")).NotTo(BeADirectory(), "nothing uses it any more")

	c.must(t, "dpkg", "--remove", "foo")
	g.Expect(c.path("usr/lib/foo")).NotTo(BeADirectory())
	g.Expect(c.path("var/lib/foocloud/token")).To(BeAnExistingFile(), "only purging removes state")
	_, err = os.Lstat(c.path(enabled))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	// The user has mounted a disk in the place of a state folder, and made a link.
	disk, folder := t.TempDir(), c.path("srv/quickstart")
	g.Expect(unix.Mount(disk, c.path("var/lib/foo"), "", unix.MS_BIND, "")).To(Succeed())
	t.Cleanup(func() { _ = unix.Unmount(c.path("var/lib/foo"), unix.MNT_DETACH) })
	link := c.path("var/lib/foo-quickstart")
	g.Expect(os.RemoveAll(link)).To(Succeed())
	g.Expect(os.Symlink("/srv/quickstart", link)).To(Succeed())
	for _, state := range []string{disk, folder} {
		write(t, filepath.Join(state, "cloud", "state"), "")
	}
	c.expectStateInUse(t)
	c.must(t, "dpkg", "--purge", "foo")
	g.Expect(unix.Unmount(c.path("var/lib/foo"), 0)).To(Succeed())
	for _, state := range []string{disk, folder} {
		g.Expect(os.ReadDir(state)).To(BeEmpty())
	}
	g.Expect(errors.Join(os.RemoveAll(c.path("var/lib/foo")), os.Remove(link), os.Remove(folder))).To(Succeed())
	g.Expect(c.changes(t, before)).To(BeEmpty())
}

func TestRPMPackage(t *testing.T) {
	g := NewWithT(t)
	c := newChroot(t)
	before := c.names(t)
	// The database of rpm does not know what Debian has installed.
	rpm := []string{"rpm", "--root", string(c), "--dbpath", "/var/lib/rpm", "--nodeps"}
	run(t, rpm[0], append(rpm[1:], "--install", filepath.Join(first.pack(t), first.name()+".rpm"))...)
	g.Expect(c.must(t, "/usr/bin/foo", "version")).To(Equal("foo v0.1.0\n"))
	c.state(t)
	c.start(t)
	run(t, rpm[0], append(rpm[1:], "--upgrade", filepath.Join(second.pack(t), second.name()+".rpm"))...)
	c.expectUpgraded(t)
	running := c.inUse(t)
	run(t, rpm[0], append(rpm[1:], "--reinstall", filepath.Join(second.pack(t), second.name()+".rpm"))...)
	g.Expect(c.inUse(t)).To(Equal(running))
	c.expectInUse(t, append(rpm, "--erase", "foo")...)

	run(t, rpm[0], append(rpm[1:], "--erase", "foo")...)
	for _, name := range []string{"var/lib/foocloud", "var/lib/foo", "var/lib/foo-quickstart", "etc/default/foocloud"} {
		g.Expect(os.RemoveAll(c.path(name))).To(Succeed(), "RPM has no purge")
	}
	g.Expect(c.changes(t, before)).To(BeEmpty())
}

// A machine that cannot run Foo builds nothing, and says why at once.
func TestMachineIsCheckedBeforeTheBuild(t *testing.T) {
	g := NewWithT(t)
	command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", "..", "quickstart")
	command.Env = append(os.Environ(), "FOO_ROOT="+t.TempDir())
	began := time.Now()
	said, err := command.CombinedOutput()
	g.Expect(err).To(HaveOccurred())
	g.Expect(time.Since(began)).To(BeNumerically("<", 30*time.Second))
	g.Expect(string(said)).To(And(ContainSubstring("install.sh: the kernel has no network namespaces: boot one with CONFIG_NET_NS\n"), Not(ContainSubstring("building"))))
	order := run(t, "make", "--no-print-directory", "-C", "..", "--dry-run", "host")
	g.Expect(order).To(MatchRegexp(`(?s)^packaging/install\.sh --check .*\nhack/prerequisites\.sh runc mmdebstrap\n$`), "downloads come after the check")
}

// A quick start that is continued keeps its version, unless the user names another.
func TestVersionOfTheQuickStart(t *testing.T) {
	g := NewWithT(t)
	start := func(args ...string) string {
		clean := []string{"-u", "MAKEFLAGS", "-u", "KUBERNETES_VERSION", "make"} // of the make that runs this test
		return run(t, "env", append(clean, append([]string{"--no-print-directory", "-C", "..", "--dry-run", "quickstart"}, args...)...)...)
	}
	g.Expect(start("ARGS=--resume")).To(MatchRegexp(`(?m)^\S+/bin/foo quickstart +--resume$`))
	g.Expect(start("KUBERNETES_VERSION=v1.35.4")).To(MatchRegexp(`(?m)^\S+/bin/foo quickstart --kubernetes-version=v1\.35\.4 *$`))
	makefile, err := os.ReadFile("../Makefile")
	g.Expect(err).NotTo(HaveOccurred())
	built := regexp.MustCompile(`(?m)^KUBERNETES_VERSION \?= (\S+)$`).FindSubmatch(makefile)
	g.Expect(built).To(HaveLen(2))
	g.Expect(run(t, "../bin/foo", "quickstart", "--help")).To(ContainSubstring(`(default "`+string(built[1])+`")`), "the version that is built")
}

// A host without a network says which packages its user can install.
func TestPackagesCannotBeDownloaded(t *testing.T) {
	g := NewWithT(t)
	programs := t.TempDir()
	write(t, filepath.Join(programs, "apt-get"), "#!/bin/sh\nexit 100\n")
	command := exec.CommandContext(t.Context(), "../hack/prerequisites.sh", "sh", "no-such-program:its-package", "no-other-program")
	command.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
	said, err := command.CombinedOutput()
	g.Expect(err).To(HaveOccurred())
	g.Expect(string(said)).To(HaveSuffix("\ncannot download Debian packages: connect this host to its package mirror, or install: its-package no-other-program\n"))
}

// A variant of an image is not a version whose container images could be built.
func TestVariantsOfImages(t *testing.T) {
	g := NewWithT(t)
	bin := t.TempDir()
	for _, image := range []string{"v1.36.3", "v1.35.4", "patched@v1.36.3"} {
		write(t, filepath.Join(bin, "kubernetes", image, "kubernetes"), "")
	}
	said := run(t, "make", "--no-print-directory", "-C", "..", "--dry-run", "BIN="+bin, bin+"/systems/.current")
	g.Expect(said).To(MatchRegexp(`(?m)^hack/build-store\.sh \S+ \S+ \S+ +v1\.35\.4 +v1\.36\.3 &&`))
	g.Expect(said).NotTo(ContainSubstring("patched"))
}

// Whoever deletes the build while clusters run could not delete these any more.
func TestCleanWhileInUse(t *testing.T) {
	g := NewWithT(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	root := t.TempDir()
	clean := func() (string, error) {
		makefile, err := filepath.Abs("../Makefile")
		g.Expect(err).NotTo(HaveOccurred())
		said, err := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", folder, "-f", makefile, "clean", "FOO_ROOT="+root).CombinedOutput()
		return string(said), err
	}
	write(t, filepath.Join(folder, "bin/foo"), "")
	write(t, filepath.Join(root, "proc/7/mounts"), "overlay / overlay rw,lowerdir=/a:"+folder+"/bin/systems/1,upperdir=/u 0 0\n")
	said, err := clean()
	g.Expect(err).To(HaveOccurred())
	g.Expect(said).To(ContainSubstring("instances of a cloud use bin: delete those of foo with: bin/foo delete cluster NAME, or: bin/foo quickstart delete --state-dir=/var/lib/foo; those of another cloud with: bin/foocloud destroy\n"))
	g.Expect(filepath.Join(folder, "bin/foo")).To(BeAnExistingFile())
	remove(t, filepath.Join(root, "proc/7"))
	said, err = clean()
	g.Expect(err).NotTo(HaveOccurred(), said)
	g.Expect(filepath.Join(folder, "bin")).NotTo(BeADirectory())
}
