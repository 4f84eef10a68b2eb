// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package packaging holds what a release puts on a machine besides programs. It has tests only.
package packaging

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// machine stands in for the machine that install.sh checks: programs, and files that a kernel would provide.
type machine struct {
	// root holds the kernel's files, bin all programs.
	root, bin string
}

// newMachine returns a machine that can run Foo.
func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{root: t.TempDir(), bin: t.TempDir()}
	g := NewWithT(t)
	for _, name := range []string{
		"awk", "basename", "cat", "cmp", "cp", "cut", "dirname", "find", "flock", "grep", "gzip", "ln", "mkdir", "mv", "pwd", "readlink", "rm", "rmdir", "sed", "sh", "sha256sum", "tar", "tr", "wc",
	} {
		path, err := exec.LookPath(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Symlink(path, filepath.Join(m.bin, name))).To(Succeed())
	}
	m.program(t, "uname", `case $1 in -s) echo Linux;; -m) echo x86_64;; -r) echo 6.1.0-9-amd64;; esac`)
	m.program(t, "id", "echo 0")
	m.program(t, "runc", "")
	m.program(t, "df", `printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 9 9 9999999 1%% /\n'`)
	m.file(t, "proc/filesystems", "nodev\tproc\nnodev\toverlay\n\text4\n")
	m.file(t, "proc/kallsyms", "0000000000000000 T nf_tables_core_module_init\t[nf_tables]\n")
	m.file(t, "proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
	m.file(t, "proc/self/ns/net", "")
	m.file(t, "proc/meminfo", "MemTotal:        2000000 kB\nMemAvailable:    1800000 kB\n")
	m.file(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n")
	return m
}

// program replaces a program by a script.
func (m machine) program(t *testing.T, name, script string) {
	t.Helper()
	path := filepath.Join(m.bin, name)
	_ = os.Remove(path)
	NewWithT(t).Expect(os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700)).To(Succeed())
}

// file replaces a file of the kernel.
func (m machine) file(t *testing.T, name, content string) {
	t.Helper()
	write(t, filepath.Join(m.root, name), content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(content), 0o755)).To(Succeed())
}

// remove removes a program or a file of the kernel.
func remove(t *testing.T, path string) {
	t.Helper()
	NewWithT(t).Expect(os.RemoveAll(path)).To(Succeed())
}

// install runs install.sh and returns what it prints, and its exit code.
func (m machine) install(t *testing.T, args ...string) (string, int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", append([]string{"install.sh"}, args...)...)
	command.Env = []string{"PATH=" + m.bin, "FOO_ROOT=" + m.root}
	said, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(said), command.ProcessState.ExitCode()
}

func TestMachineThatCanRunFoo(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	said, code := m.install(t, "--check")
	g.Expect(said).To(Equal("This host can run Foo. Its free space was not checked: name an archive, or use --space.\n"))
	g.Expect(code).To(BeZero())

	// Modules may be built in, or loaded on demand; the cgroups may be version 1.
	m.file(t, "proc/filesystems", "")
	m.file(t, "proc/kallsyms", "")
	m.file(t, "lib/modules/6.1.0-9-amd64/modules.builtin", "kernel/fs/overlayfs/overlay.ko\n")
	m.program(t, "modprobe", `[ "$*" = "-q -n nf_tables" ]`)
	remove(t, filepath.Join(m.root, "sys"))
	m.file(t, "proc/mounts", "cgroup /c/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup /c/cpuset cgroup rw,cpuset 0 0\n"+
		"cgroup /c/memory cgroup rw,relatime,memory 0 0\ncgroup /c/pids cgroup rw,pids 0 0\n")
	said, code = m.install(t, "--check", release(t, "v0.1.0"))
	g.Expect(said).To(Equal("This host can run Foo.\n"))
	g.Expect(code).To(BeZero())
}

// Each problem is one line with a remedy, and nothing is changed.
func TestMachineThatLacksSomething(t *testing.T) {
	uname := `case $1 in -s) echo %s;; -m) echo %s;; -r) echo %s;; esac`
	for name, test := range map[string]struct {
		spoil func(*testing.T, machine)
		want  []string
	}{
		"not root": {func(t *testing.T, m machine) { m.program(t, "id", "echo 1000") }, []string{"not root: run it with sudo"}},
		"architecture": {func(t *testing.T, m machine) { m.program(t, "uname", fmt.Sprintf(uname, "Linux", "riscv64", "6.1.0")) },
			[]string{"the architecture is riscv64: use a host with amd64"}},
		"old kernel": {func(t *testing.T, m machine) {
			m.program(t, "uname", fmt.Sprintf(uname, "Linux", "x86_64", "5.15.0-91-generic"))
		},
			[]string{"the kernel is Linux 5.15.0-91-generic: boot Linux 5.17 or newer"}},
		"no overlayfs": {func(t *testing.T, m machine) { m.file(t, "proc/filesystems", "nodev\tproc\n") }, []string{"no overlayfs: boot one with"}},
		"no nftables":  {func(t *testing.T, m machine) { m.file(t, "proc/kallsyms", "") }, []string{"no nftables: boot one with CONFIG_NF_TABLES"}},
		"no network namespaces": {func(t *testing.T, m machine) { remove(t, filepath.Join(m.root, "proc/self")) },
			[]string{"no network namespaces: boot one with CONFIG_NET_NS"}},
		"no memory controller": {func(t *testing.T, m machine) { m.file(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n") },
			[]string{"no cgroup controller memory: mount cgroup v2 on /sys/fs/cgroup, and boot without cgroup_disable=memory"}},
		"no runc": {func(t *testing.T, m machine) { remove(t, filepath.Join(m.bin, "runc")) }, []string{"runc is not installed: install"}},
		"no flock": {func(t *testing.T, m machine) { remove(t, filepath.Join(m.bin, "flock")) },
			[]string{"flock is not installed: install your distribution's package util-linux, for example with: apt-get install util-linux"}},
		"little memory": {func(t *testing.T, m machine) {
			m.file(t, "proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable: 1040000 kB\n")
		},
			[]string{"the host has 1015 MiB of free memory, and a cluster needs 1024 MiB: end other programs"}},
		"full disk": {func(t *testing.T, m machine) { m.program(t, "df", `printf 'Filesystem\n/dev/sda1 9 9 1000 1%% /\n'`) },
			[]string{" has 0 MiB of free space, and Foo needs "}},
		"everything": {func(t *testing.T, m machine) {
			m.program(t, "uname", fmt.Sprintf(uname, "GNU", "i686", "4.9"))
			m.program(t, "id", "echo 7")
			remove(t, filepath.Join(m.root, "proc"))
			remove(t, filepath.Join(m.root, "sys"))
			remove(t, filepath.Join(m.bin, "runc"))
		}, []string{
			"this is GNU", "the architecture is i686", "not root", "the kernel is Linux 4.9", "no overlayfs", "no nftables", "no network namespaces",
			"no cgroup controller cpu:", "no cgroup controller cpuset:", "no cgroup controller memory:", "no cgroup controller pids:", "runc is not installed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			test.spoil(t, m)
			prefix := filepath.Join(t.TempDir(), "prefix")
			said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
			lines := strings.Split(strings.TrimSpace(said), "\n")
			g.Expect(lines).To(HaveLen(len(test.want)+1), said)
			for i, want := range test.want {
				g.Expect(lines[i]).To(And(HavePrefix("install.sh: "), ContainSubstring(want)))
			}
			g.Expect(lines[len(lines)-1]).To(Equal("install.sh: nothing was changed: first solve what is listed above"))
			g.Expect(code).To(Equal(2))
			g.Expect(prefix).NotTo(BeADirectory())
		})
	}
}

// release returns a small archive of a release, large enough that an empty disk cannot hold it.
func release(t *testing.T, version string) string {
	t.Helper()
	g := NewWithT(t)
	name := "foo-" + version + "-linux-amd64"
	folder := t.TempDir()
	unit, err := os.ReadFile("foocloud.service")
	g.Expect(err).NotTo(HaveOccurred())
	nodes, err := os.ReadFile("nodes.sh")
	g.Expect(err).NotTo(HaveOccurred())
	removable, err := os.ReadFile("removable.sh")
	g.Expect(err).NotTo(HaveOccurred())
	unused, err := os.ReadFile("unused.sh")
	g.Expect(err).NotTo(HaveOccurred())
	for path, content := range map[string]string{
		"VERSION": version + "\n", "foo": script("foo " + version), "foocloud": script("foocloud"), "install.sh": "", "foocloud.service": string(unit), "nodes.sh": string(nodes),
		"removable.sh": string(removable), "unused.sh": string(unused),
		"kubernetes/v1.36.3/kubernetes": "kubernetes", "systems/" + version + "/etc/passwd": "system",
		"man/foo.1": "", "man/foocloud-serve.1": "",
		"completion/foo.bash": "", "completion/foo.zsh": "", "completion/foo.fish": "",
		"completion/foocloud.bash": "", "completion/foocloud.zsh": "", "completion/foocloud.fish": "",
	} {
		write(t, filepath.Join(folder, name, path), content)
	}
	g.Expect(os.Symlink("systems/"+version, filepath.Join(folder, name, "system"))).To(Succeed())
	random := make([]byte, 1<<18)
	_, err = rand.Read(random)
	g.Expect(err).NotTo(HaveOccurred())
	write(t, filepath.Join(folder, name, "large"), string(random))
	archive := filepath.Join(folder, "packages", name+".tar.gz")
	g.Expect(os.Mkdir(filepath.Dir(archive), 0o700)).To(Succeed())
	said, err := exec.CommandContext(t.Context(), "tar", "-czf", archive, "-C", folder, name).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(said))
	content, err := os.ReadFile(archive)
	g.Expect(err).NotTo(HaveOccurred())
	write(t, filepath.Join(folder, "SHA256SUMS"), fmt.Sprintf("%x  packages/%s\n", sha256.Sum256(content), filepath.Base(archive)))
	return archive
}

// script returns a program that says something.
func script(says string) string { return "#!/bin/sh\necho " + says + "\n" }

// tree returns the files and links below a folder with their contents, and the folders.
func tree(g *WithT, root string) map[string]string {
	found := map[string]string{}
	g.Expect(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root)
		switch {
		case entry.Type() == fs.ModeSymlink:
			found[name], err = os.Readlink(path)
		case entry.IsDir():
			found[name] = "folder"
		default:
			var content []byte
			content, err = os.ReadFile(path)
			found[name] = string(content)
		}
		return err
	})).To(Succeed())
	return found
}

// identities tells which files are in folders of a folder, and notices if one is written anew.
func identities(t *testing.T, root string, folders ...string) []string {
	t.Helper()
	find := exec.CommandContext(t.Context(), "find", append(folders, "-printf", "%i %C@ %p\n")...)
	find.Dir = root
	found, err := find.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(found))
	return strings.Split(string(found), "\n")
}

func TestInstallUpgradeUninstall(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	parent := t.TempDir()
	prefix := filepath.Join(parent, "new/prefix")
	// Debian's /usr/local/bin exists and is empty.
	g.Expect(os.MkdirAll(filepath.Join(parent, "new/prefix/bin"), 0o700)).To(Succeed())
	before := tree(g, parent)

	said, code := m.install(t, "--prefix", prefix+"/", release(t, "v0.1.0"))
	lib := filepath.Join(prefix, "lib/foo")
	g.Expect(said).To(Equal("Installed Foo v0.1.0 in " + lib + ". Bring up a cluster with: sudo " + prefix + "/bin/foo quickstart\n"))
	g.Expect(code).To(BeZero())
	g.Expect(os.ReadFile(filepath.Join(prefix, "bin/foo"))).To(BeEquivalentTo(script("foo v0.1.0")))
	for link, target := range map[string]string{
		"bin/foocloud":                             "foocloud",
		"share/bash-completion/completions/foo":    "completion/foo.bash",
		"share/zsh/site-functions/_foocloud":       "completion/foocloud.zsh",
		"share/fish/vendor_completions.d/foo.fish": "completion/foo.fish",
		"share/man/man1/foocloud-serve.1":          "man/foocloud-serve.1",
		"lib/systemd/system/foocloud.service":      "foocloud.service",
	} {
		g.Expect(os.Readlink(filepath.Join(prefix, link))).To(Equal(filepath.Join(lib, target)))
	}
	unit, err := os.ReadFile(filepath.Join(lib, "foocloud.service"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(unit)).To(And(ContainSubstring("ExecStart="+lib+"/foocloud serve "), Not(ContainSubstring("=/usr/lib/foo"))))

	said, code = m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
	g.Expect(said).To(HavePrefix("Installed Foo v0.2.0 "))
	g.Expect(code).To(BeZero())
	g.Expect(os.ReadFile(filepath.Join(prefix, "bin/foo"))).To(BeEquivalentTo(script("foo v0.2.0")))
	g.Expect(filepath.Join(lib, "system/etc/passwd")).To(BeAnExistingFile())

	// Instances of this release have its files as a layer, and containers the same Kubernetes programs.
	running := identities(t, lib, "systems", "kubernetes")
	said, code = m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
	g.Expect(code).To(BeZero(), said)
	g.Expect(identities(t, lib, "systems", "kubernetes")).To(Equal(running))

	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(said).To(Equal("Removed Foo from " + lib + ".\n"))
	g.Expect(code).To(BeZero())
	g.Expect(tree(g, parent)).To(Equal(before))
}

// A service that was enabled and stopped is not enabled any more, while services of others are.
func TestUninstallOfAnEnabledService(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	enabled := filepath.Join(m.root, "etc/systemd/system")
	write(t, filepath.Join(enabled, "mine.service"), "[Unit]\n")
	g.Expect(os.Mkdir(filepath.Join(enabled, "multi-user.target.wants"), 0o755)).To(Succeed())
	g.Expect(os.Symlink("/lib/systemd/system/other.service", filepath.Join(enabled, "multi-user.target.wants/other.service"))).To(Succeed())
	before := tree(g, enabled)
	// systemctl enable makes these for a unit that is a link itself.
	for _, name := range []string{"foocloud.service", "multi-user.target.wants/foocloud.service"} {
		g.Expect(os.Symlink(filepath.Join(prefix, "lib/foo/foocloud.service"), filepath.Join(enabled, name))).To(Succeed())
	}
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(code).To(BeZero(), said)
	g.Expect(tree(g, enabled)).To(Equal(before))
}

// Files of others in the same folders stay.
func TestUninstallLeavesOtherFiles(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	write(t, filepath.Join(prefix, "bin/other"), "other")
	remove(t, filepath.Join(prefix, "bin/foo"))
	write(t, filepath.Join(prefix, "bin/foo"), "mine")
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(code).To(BeZero(), said)
	left := tree(g, prefix)
	g.Expect(maps.Keys(left)).To(ConsistOf("", "/bin", "/bin/other", "/bin/foo"))
}

func TestRefusals(t *testing.T) {
	damaged := release(t, "v0.1.0")
	content, err := os.ReadFile(damaged)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	write(t, damaged, string(bytes.TrimRight(content, "\x00"))+"more")
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "lib/foo/file"), "other")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":      {[]string{"--force"}, "unknown flag --force; see --help"},
		"no folder":         {[]string{"--prefix"}, "--prefix needs a folder"},
		"no number":         {[]string{"--check", "--space", "much"}, "--space 'much': must be a number of MiB"},
		"relative folder":   {[]string{"--prefix", "here"}, "--prefix 'here': must be an absolute path"},
		"folder with space": {[]string{"--prefix", "/a b"}, "--prefix '/a b': must be an absolute path"},
		"two archives":      {[]string{"a", "b"}, "more than one archive"},
		"no archive beside": {nil, "there is no archive foo-VERSION-linux-amd64.tar.gz in "},
		"no such archive":   {[]string{"/gone.tar.gz"}, "there is no archive /gone.tar.gz"},
		"damaged archive":   {[]string{damaged}, "is damaged, since its sum is not the one in"},
		"other files":       {[]string{"--prefix", foreign, release(t, "v0.1.0")}, "exists, but install.sh did not create it"},
		"not installed":     {[]string{"--uninstall", "--prefix", foreign}, "there is no Foo in " + foreign + "/lib/foo that install.sh installed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := tree(g, foreign)
			said, code := newMachine(t).install(t, test.args...)
			g.Expect(said).To(And(HavePrefix("install.sh: "), ContainSubstring(test.want)))
			g.Expect(strings.Count(said, "\n")).To(Equal(1), said)
			g.Expect(code).To(Equal(2))
			g.Expect(tree(g, foreign)).To(Equal(before))
		})
	}
}

// The programs of others are no links of Foo.
func TestProgramsOfOthersStay(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	write(t, filepath.Join(prefix, "bin/foo"), "mine")
	g.Expect(os.Symlink("/elsewhere", filepath.Join(prefix, "bin/foocloud"))).To(Succeed())
	before := tree(g, prefix)
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(said).To(Equal("install.sh: " + prefix + "/bin/foo exists, but is not Foo's: remove it, or choose another folder with --prefix\n" +
		"install.sh: " + prefix + "/bin/foocloud exists, but is not Foo's: remove it, or choose another folder with --prefix\n" +
		"install.sh: nothing was changed: first solve what is listed above\n"))
	g.Expect(code).To(Equal(2))
	g.Expect(tree(g, prefix)).To(Equal(before))
}

// Running clusters use the memory that a first cluster would need, and the service gets the new program.
func TestUpgradeOfAMachineInUse(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	_, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero())
	m.file(t, "proc/meminfo", "MemAvailable: 100000 kB\n")
	m.file(t, "run/systemd/system/file", "")
	calls := filepath.Join(m.root, "calls")
	m.program(t, "systemctl", "echo $* >> "+calls)
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
	g.Expect(code).To(BeZero(), said)
	g.Expect(os.ReadFile(calls)).To(BeEquivalentTo("daemon-reload\nis-active --quiet foocloud.service\nrestart foocloud.service\n"))
}

// Two installations at once would unpack into the same folder.
func TestSecondInstallationAtOnce(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	archive := release(t, "v0.1.0")
	said, code := m.install(t, "--prefix", prefix, archive)
	g.Expect(code).To(BeZero(), said)
	lib, err := os.Open(filepath.Join(prefix, "lib/foo"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = lib.Close() }()
	g.Expect(unix.Flock(int(lib.Fd()), unix.LOCK_EX)).To(Succeed())
	before := tree(g, prefix)
	for _, args := range [][]string{{archive}, {"--uninstall"}} {
		said, code = m.install(t, append([]string{"--prefix", prefix}, args...)...)
		g.Expect(said).To(Equal("install.sh: another install.sh is changing " + lib.Name() + ": wait until it has ended, and repeat this\n"))
		g.Expect(code).To(Equal(2))
		g.Expect(tree(g, prefix)).To(Equal(before))
	}
}

// Some network file systems have no locks of folders.
func TestFolderThatCannotBeLocked(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	parent := t.TempDir()
	prefix := filepath.Join(parent, "new/prefix")
	archive := release(t, "v0.1.0")
	flock, err := os.Readlink(filepath.Join(m.bin, "flock"))
	g.Expect(err).NotTo(HaveOccurred())
	fails := func(args ...string) {
		before := tree(g, parent)
		m.program(t, "flock", "exit 71")
		said, code := m.install(t, append([]string{"--prefix", prefix}, args...)...)
		g.Expect(said).To(Equal("install.sh: cannot lock " + prefix + "/lib/foo: install your distribution's package util-linux, " +
			"or choose a folder on a local disk with --prefix\n"))
		g.Expect(code).To(Equal(2))
		g.Expect(tree(g, parent)).To(Equal(before))
		m.program(t, "flock", "exec "+flock+` "$@"`)
	}
	fails(archive)
	said, code := m.install(t, "--prefix", prefix, archive)
	g.Expect(code).To(BeZero(), said)
	fails(archive)
	fails("--uninstall")
}

// Whatever ends an installation, it can be repeated or removed.
func TestInterruptedInstallation(t *testing.T) {
	for name, failing := range map[string]string{
		"before the unit": "sed", "between links": "ln",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			prefix := filepath.Join(t.TempDir(), "prefix")
			working, err := os.Readlink(filepath.Join(m.bin, failing))
			g.Expect(err).NotTo(HaveOccurred())
			archive := release(t, "v0.1.0")
			spoil := func() {
				// The fifth link is not made any more.
				calls := filepath.Join(m.root, "calls")
				m.program(t, failing, "echo >> "+calls+`; [ "`+failing+`" = ln ] && [ $(wc -l <`+calls+`) -lt 5 ] && exec `+working+` "$@"; exit 1`)
			}
			repair := func() {
				remove(t, filepath.Join(m.bin, failing))
				g.Expect(os.Symlink(working, filepath.Join(m.bin, failing))).To(Succeed())
			}
			spoil()
			said, code := m.install(t, "--prefix", prefix, archive)
			g.Expect(code).To(Equal(1), said)
			repair()
			said, code = m.install(t, "--uninstall", "--prefix", prefix)
			g.Expect(code).To(BeZero(), said)
			g.Expect(prefix).NotTo(BeADirectory())

			spoil()
			_, code = m.install(t, "--prefix", prefix, archive)
			g.Expect(code).NotTo(BeZero())
			repair()
			said, code = m.install(t, "--prefix", prefix, archive)
			g.Expect(code).To(BeZero(), said)
			said, code = m.install(t, "--uninstall", "--prefix", prefix)
			g.Expect(code).To(BeZero(), said)
			g.Expect(prefix).NotTo(BeADirectory())
		})
	}
}

// An upgrade leaves the operating systems that instances have, or that a cloud may still start them with.
func TestOldSystems(t *testing.T) {
	for name, test := range map[string]struct {
		mounts, exe, cmdline, open, layers string
		kept                               bool
	}{
		"not used":                       {mounts: "overlay / overlay rw,lowerdir=/elsewhere/systems/v0.1.0 0 0\n"},
		"instance":                       {mounts: "overlay / overlay rw,lowerdir=/a:LIB/systems/v0.1.0,upperdir=/u 0 0\n", kept: true},
		"instance with a user namespace": {mounts: "overlay / overlay rw,lowerdir=/mnt/layers/0:/mnt/layers/1,upperdir=/u 0 0\n", kept: true},
		"stopped instance":               {layers: "/var/lib/foo/cloud/agent/1:LIB/systems/v0.1.0", kept: true},
		"stopped instance of another":    {layers: "/var/lib/foo/cloud/agent/1:/usr/lib/foo/systems/v0.1.0"},
		"old cloud":                      {exe: "LIB/foocloud (deleted)", cmdline: "foocloud\x00serve\x00", kept: true},
		"new cloud":                      {exe: "LIB/foocloud", cmdline: "foocloud\x00serve\x00"},
		"new cloud before the link":      {exe: "LIB/foocloud", cmdline: "foocloud\x00serve\x00", open: "LIB/systems/v0.1.0", kept: true},
		"old load balancer":              {exe: "LIB/foocloud (deleted)", cmdline: "foocloud\x00load-balancer\x00serve-1\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			prefix, err := filepath.EvalSymlinks(t.TempDir())
			g.Expect(err).NotTo(HaveOccurred())
			lib := filepath.Join(prefix, "lib/foo")
			said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
			g.Expect(code).To(BeZero(), said)
			m.file(t, "proc/7/mounts", strings.ReplaceAll(test.mounts, "LIB", lib))
			m.file(t, "proc/7/cmdline", test.cmdline)
			m.file(t, "var/lib/foo/cloud/instances/i-1/layers", strings.ReplaceAll(test.layers, "LIB", lib))
			g.Expect(os.Symlink(strings.ReplaceAll(test.exe, "LIB", lib), filepath.Join(m.root, "proc/7/exe"))).To(Or(Succeed(), MatchError(os.ErrNotExist)))
			if test.open != "" {
				g.Expect(os.Mkdir(filepath.Join(m.root, "proc/7/fd"), 0o700)).To(Succeed())
				g.Expect(os.Symlink(strings.ReplaceAll(test.open, "LIB", lib), filepath.Join(m.root, "proc/7/fd/9"))).To(Succeed())
			}
			said, code = m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
			g.Expect(code).To(BeZero(), said)
			g.Expect(filepath.Join(lib, "systems/v0.2.0/etc/passwd")).To(BeAnExistingFile())
			if test.kept {
				g.Expect(filepath.Join(lib, "systems/v0.1.0/etc/passwd")).To(BeAnExistingFile())
			} else {
				g.Expect(filepath.Join(lib, "systems/v0.1.0")).NotTo(BeADirectory())
			}
		})
	}
}

// Ctrl-C ends with a message that says what to do.
func TestCtrlC(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	m.program(t, "tar", "kill -INT $PPID; exit 1")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(said).To(Equal("install.sh: interrupted: repeat it, or remove what is there with --uninstall\n"))
	g.Expect(code).To(Equal(130))
	find, err := os.Readlink(filepath.Join(m.bin, "find"))
	g.Expect(err).NotTo(HaveOccurred())
	m.program(t, "find", `case $* in *rm*) kill -INT $PPID;; *) exec `+find+` "$@";; esac`)
	said, code = m.install(t, "--prefix", prefix, "--uninstall")
	g.Expect(said).To(Equal("install.sh: interrupted: repeat it\n"))
	g.Expect(code).To(Equal(130))
}

// Whatever ends a removal, it can be repeated.
func TestInterruptedRemoval(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	lib := filepath.Join(prefix, "lib/foo")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	rm, err := os.Readlink(filepath.Join(m.bin, "rm"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, again := range []string{"--uninstall", release(t, "v0.1.0")} {
		// It removes a folder's files in any order.
		m.program(t, "rm", `case " $* " in *" `+lib+` "*) `+rm+` `+lib+`/install*; exit 1;; *" `+lib+`/large "*) `+
			rm+` -rf `+lib+`/systems/*/etc `+lib+`/.new/*/etc; exit 1;; esac; exec `+rm+` "$@"`)
		said, code = m.install(t, "--prefix", prefix, "--uninstall")
		g.Expect(code).To(Equal(1), said)
		m.program(t, "rm", `exec `+rm+` "$@"`)
		said, code = m.install(t, "--prefix", prefix, again)
		g.Expect(code).To(BeZero(), said)
		if again == "--uninstall" {
			g.Expect(prefix).NotTo(BeADirectory())
			said, code = m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
			g.Expect(code).To(BeZero(), said)
		}
	}
	g.Expect(filepath.Join(lib, "system/etc/passwd")).To(BeAnExistingFile())
}

// Instances that start after an interrupted upgrade, such as at a reboot, have a complete operating system.
func TestInterruptedUpgrade(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	tar, err := os.Readlink(filepath.Join(m.bin, "tar"))
	g.Expect(err).NotTo(HaveOccurred())
	m.program(t, "tar", tar+` --exclude=*/etc "$@"; exit 1`)
	said, code = m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
	g.Expect(code).To(Equal(2), said)
	g.Expect(os.Readlink(filepath.Join(prefix, "lib/foo/system"))).To(Equal("systems/v0.1.0"))
	g.Expect(os.ReadFile(filepath.Join(prefix, "bin/foo"))).To(BeEquivalentTo(script("foo v0.1.0")))

	m.program(t, "tar", `exec `+tar+` "$@"`)
	said, code = m.install(t, "--prefix", prefix, release(t, "v0.2.0"))
	g.Expect(code).To(BeZero(), said)
	g.Expect(filepath.Join(prefix, "lib/foo/systems/v0.2.0/etc/passwd")).To(BeAnExistingFile())
	g.Expect(os.Readlink(filepath.Join(prefix, "lib/foo/system"))).To(Equal("systems/v0.2.0"))
}

// Whoever builds Foo needs space before there is an archive.
func TestCheckOfSpace(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	m.program(t, "df", `printf 'Filesystem\n/dev/sda1 9 9 2097152 1%% /\n'`)
	said, code := m.install(t, "--check", "--space", "2048", "--prefix", filepath.Join(t.TempDir(), "bin"))
	g.Expect(said).To(Equal("This host can run Foo.\n"))
	g.Expect(code).To(BeZero())
	said, code = m.install(t, "--check", "--space", "2049")
	g.Expect(said).To(ContainSubstring("/usr/local has 2048 MiB of free space, and Foo needs 2049 MiB: free some"))
	g.Expect(code).To(Equal(2))

	// It installs the packages itself.
	remove(t, filepath.Join(m.bin, "runc"))
	_, code = m.install(t, "--check", "--space", "2048")
	g.Expect(code).To(Equal(2))
	said, code = m.install(t, "--check", "--space", "2048", "--without-packages")
	g.Expect(code).To(BeZero(), said)
	m.program(t, "runc", "")

	// Beside an archive, it is the space that the installation needs.
	folder := filepath.Dir(release(t, "v0.1.0"))
	script, err := os.ReadFile("install.sh")
	g.Expect(err).NotTo(HaveOccurred())
	write(t, filepath.Join(folder, "install.sh"), string(script))
	m.program(t, "df", `printf 'Filesystem\n/dev/sda1 9 9 1000 1%% /\n'`)
	beside := exec.CommandContext(t.Context(), "sh", filepath.Join(folder, "install.sh"), "--check")
	beside.Env = []string{"PATH=" + m.bin, "FOO_ROOT=" + m.root}
	output, err := beside.CombinedOutput()
	g.Expect(err).To(HaveOccurred())
	g.Expect(string(output)).To(MatchRegexp(`/usr/local has 0 MiB of free space, and Foo needs [1-9]\d* MiB: free some`))
	g.Expect(beside.ProcessState.ExitCode()).To(Equal(2))
}

func TestUninstallWhileInUse(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	prefix, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	said, code := m.install(t, "--prefix", prefix, release(t, "v0.1.0"))
	g.Expect(code).To(BeZero(), said)
	before := tree(g, prefix)

	m.file(t, "proc/7/mounts", "overlay /var/lib/foocloud/instances/i-1/root overlay rw,lowerdir="+prefix+"/lib/foo/systems/1,upperdir=/u 0 0\n")
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(said).To(ContainSubstring("instances of a cloud use " + prefix + "/lib/foo: delete those of foo with: foo delete cluster NAME, or: " +
		"foo quickstart delete --state-dir=/var/lib/foo; for the service, delete its clusters, and run: systemctl stop foocloud && foocloud destroy\n"))
	g.Expect(code).To(Equal(2))

	m.file(t, "proc/7/mounts", "overlay / overlay rw,lowerdir=/mnt/layers/0:/mnt/layers/1,upperdir=/u 0 0\n")
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(said).To(ContainSubstring("instances of a cloud use"), "the instance has a user namespace")
	g.Expect(code).To(Equal(2))

	// The service leaves its load balancers when it ends, and so does foo.
	remove(t, filepath.Join(m.root, "proc/7"))
	m.file(t, "proc/13/cmdline", "foocloud\x00serve-load-balancer\x00/var/lib/foocloud/load-balancers/lb-1\x00")
	for _, exe := range []string{"lib/foo/foocloud", "lib/foo/foocloud (deleted)"} {
		g.Expect(os.Symlink(filepath.Join(prefix, exe), filepath.Join(m.root, "proc/13/exe"))).To(Succeed())
		said, code = m.install(t, "--uninstall", "--prefix", prefix)
		g.Expect(said).To(Equal("install.sh: load balancers of a cloud use " + prefix + "/lib/foo: delete those of foo with: foo delete cluster NAME, or: " +
			"foo quickstart delete --state-dir=/var/lib/foo; for the service, delete its clusters, and run: systemctl stop foocloud && foocloud destroy\n"))
		g.Expect(code).To(Equal(2))
		remove(t, filepath.Join(m.root, "proc/13/exe"))
	}
	g.Expect(os.Symlink("/opt/foo/lib/foo/foocloud", filepath.Join(m.root, "proc/13/exe"))).To(Succeed(), "one of another installation")

	m.file(t, "proc/12/cmdline", "foocloud\x00serve\x00")
	g.Expect(os.Symlink(filepath.Join(prefix, "lib/foo/foocloud"), filepath.Join(m.root, "proc/12/exe"))).To(Succeed())
	said, code = m.install(t, "--uninstall", "--prefix", prefix)
	g.Expect(said).To(ContainSubstring("programs of " + prefix + "/lib/foo are running: end them; a management cluster ends with: foo stop; the service ends with: systemctl disable --now foocloud\n"))
	g.Expect(code).To(Equal(2))
	g.Expect(tree(g, prefix)).To(Equal(before))
}
