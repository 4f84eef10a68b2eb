//go:build integration

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
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	// stageEnv tells the test program that it is the first process of new namespaces, and which instance to make of them.
	stageEnv = "FOO_TEST_INSTANCE"

	version    = "v1.36.3"
	hostname   = "node-1"
	address    = "10.90.0.10"
	searchPath = "/opt/foo/kubernetes:/opt/foo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// plan is what an instance is made of: folders of the host.
type plan struct {
	State      string   // folder of the instance's own files
	Root       string   // folder that the instance's root is a view of
	Agent      string   // the program foonode; empty if the root has it
	Kubernetes string   // folder of the Kubernetes programs; empty if the root has them
	First      []string // the first process and its arguments
	UserData   string   // file
}

func TestMain(m *testing.M) {
	encoded := os.Getenv(stageEnv)
	if encoded == "" {
		os.Exit(m.Run())
	}
	var p plan
	err := json.Unmarshal([]byte(encoded), &p)
	if err == nil {
		err = p.enter() // returns only with an error
	}
	fmt.Fprintln(os.Stderr, "instance:", err)
	os.Exit(1)
}

// machine is a running instance.
type machine struct {
	t       *testing.T
	state   string
	command *exec.Cmd
	ended   chan error
}

// onHost is an instance whose root is a view of the host's, with the built programs.
func onHost(t *testing.T) plan {
	t.Helper()
	bin := bin(t)
	p := plan{
		Root:       "/",
		Agent:      filepath.Join(bin, "foonode"),
		Kubernetes: filepath.Join(bin, "kubernetes", version),
		First:      []string{"/opt/foo/bin/foonode", "init"},
	}
	for _, needed := range []string{p.Agent, filepath.Join(p.Kubernetes, "kubelet")} {
		if _, err := os.Stat(needed); err != nil {
			t.Fatalf("build the programs first (make node): %s", err)
		}
	}
	return p
}

// bin is the folder of what is built.
func bin(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../../../bin")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// boot starts an instance with user data. It is killed when the test ends.
func (p plan) boot(t *testing.T, userData string) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("instances need root")
	}
	state := t.TempDir()
	p.State, p.UserData = state, filepath.Join(state, "user-data")
	if err := os.WriteFile(p.UserData, []byte(userData), 0o600); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	console, err := os.Create(filepath.Join(state, "console.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/proc/self/exe")
	command.Env = []string{stageEnv + "=" + string(encoded)}
	command.Stdout, command.Stderr = console, console
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
		Setsid:     true,
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = console.Close()
	m := &machine{t: t, state: state, command: command, ended: make(chan error, 1)}
	go func() { m.ended <- command.Wait() }()
	t.Cleanup(m.kill)
	return m
}

func (m *machine) kill() {
	if m.t.Failed() {
		for _, name := range []string{"console.log", "log/kubelet.log"} {
			data, _ := os.ReadFile(filepath.Join(m.state, name))
			m.t.Logf("%s:\n%s", name, data[max(0, len(data)-8*1024):])
		}
	}
	if m.ended == nil {
		return
	}
	_ = m.command.Process.Kill()
	<-m.ended
}

// stop asks the instance to end and returns how it did.
func (m *machine) stop(limit time.Duration) error {
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-m.ended:
		m.ended = nil
		return err
	case <-time.After(limit):
		return fmt.Errorf("the instance did not end within %s", limit)
	}
}

// status is what the instance reports.
type status struct {
	Phase     string
	Bootstrap struct{ State, Message string }
	Warnings  []string
}

// bootstrapped waits for the end of the bootstrap data.
func (m *machine) bootstrapped(limit time.Duration) status {
	m.t.Helper()
	var s status
	m.eventually(limit, "bootstrap data to end", func() error {
		data, err := os.ReadFile(filepath.Join(m.state, "report/status.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		if s.Bootstrap.State != "Succeeded" && s.Bootstrap.State != "Failed" {
			return fmt.Errorf("it is %s", s.Bootstrap.State)
		}
		return nil
	})
	return s
}

// eventually tries until check has no error: what it looks at is another program's state, which tells of no change.
func (m *machine) eventually(limit time.Duration, what string, check func() error) {
	m.t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			m.t.Fatalf("waited %s for %s: %s", limit, what, err)
		case err := <-m.ended:
			m.ended = nil
			m.t.Fatalf("the instance ended while the test waited for %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// in returns a command that runs in the instance.
func (m *machine) in(args ...string) *exec.Cmd {
	all := append([]string{"-t", fmt.Sprint(m.command.Process.Pid), "-m", "-p", "-u", "-i", "-n", "env", "-i",
		"PATH=" + searchPath, "HOME=/root", "KUBECONFIG=/etc/kubernetes/admin.conf"}, args...)
	return exec.Command("nsenter", all...)
}

// run runs a command in the instance and returns its output and exit code.
func (m *machine) run(args ...string) (string, int) {
	m.t.Helper()
	out, err := m.in(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%s: %s", strings.Join(args, " "), err)
	}
	if exit != nil {
		return string(out), exit.ExitCode()
	}
	return string(out), 0
}

// read reads a file of the instance.
func (m *machine) read(name string) string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(m.command.Process.Pid), "root", name))
	if err != nil {
		m.t.Error(err)
	}
	return string(data)
}

// mount is one mount of an instance's root.
type mount struct {
	source, target, kind, options string
	flags                         uintptr
}

// enter makes the instance's root and network and becomes the agent.
func (p plan) enter() error {
	root := filepath.Join(p.State, "root")
	overlay := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", p.Root, p.State, p.State)
	mounts := []mount{
		{target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{source: "overlay", target: root, kind: "overlay", options: overlay},
		{source: "proc", target: root + "/proc", kind: "proc"},
		{source: "/dev", target: root + "/dev", flags: unix.MS_BIND | unix.MS_REC},
		{source: "sysfs", target: root + "/sys", kind: "sysfs"},
		{source: "tmpfs", target: root + "/run", kind: "tmpfs"},
		{source: "tmpfs", target: root + "/tmp", kind: "tmpfs"},
		{source: p.State + "/report", target: root + "/run/foo/report", flags: unix.MS_BIND},
	}
	if p.Kubernetes != "" {
		mounts = append(mounts, mount{source: p.Kubernetes, target: root + "/opt/foo/kubernetes", flags: unix.MS_BIND})
	}
	for name, target := range map[string]string{"kubernetes": "/etc/kubernetes", "kubelet": "/var/lib/kubelet", "etcd": "/var/lib/etcd", "log": "/var/log"} {
		mounts = append(mounts, mount{source: filepath.Join(p.State, name), target: root + target, flags: unix.MS_BIND})
	}
	for _, folder := range []string{"upper", "work", "root", "report", "kubernetes", "kubelet", "etcd", "log"} {
		if err := os.MkdirAll(filepath.Join(p.State, folder), 0o755); err != nil {
			return err
		}
	}
	for _, m := range mounts {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return errors.Join(p.fill(root), connect(), p.enterRoot(root))
}

// fill writes what the cloud writes.
func (p plan) fill(root string) error {
	userData, err := os.ReadFile(p.UserData)
	if err != nil {
		return err
	}
	instance := fmt.Sprintf(`{"id":"i1","name":"one","hostname":%q,"providerID":"foo:///a/i1","zone":"a","type":"small","cpus":2,`+
		`"memoryBytes":4294967296,"runtime":"process","kubernetesVersion":%q,"address":%q}`, hostname, version, address)
	files := map[string]string{
		"/run/foo/user-data":     string(userData),
		"/run/foo/instance.json": instance,
		"/etc/hostname":          hostname + "\n",
		"/etc/machine-id":        "0123456789abcdef0123456789abcdef\n",
		"/etc/hosts":             "127.0.0.1 localhost\n" + address + " " + hostname + "\n",
		"/etc/resolv.conf":       "",
	}
	if p.Agent != "" {
		agent, err := os.ReadFile(p.Agent)
		if err != nil {
			return err
		}
		files["/opt/foo/bin/foonode"] = string(agent)
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(root+name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(root+name, []byte(content), 0o755); err != nil {
			return err
		}
	}
	if p.Agent != "" {
		err = os.Symlink("foonode", root+"/opt/foo/bin/systemctl")
	}
	return errors.Join(err, unix.Sethostname([]byte(hostname)))
}

// connect makes a network of one: the address, and a default route that leads nowhere.
func connect() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "peer0"}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	peer, err := netlink.LinkByName("peer0")
	if err != nil {
		return err
	}
	subnet, err := netlink.ParseAddr(address + "/16")
	if err != nil {
		return err
	}
	return errors.Join(
		netlink.LinkSetUp(loopback),
		netlink.LinkSetUp(peer),
		netlink.AddrAdd(veth, subnet),
		netlink.LinkSetUp(veth),
		netlink.RouteAdd(&netlink.Route{LinkIndex: veth.Attrs().Index, Gw: subnet.IP.Mask(subnet.Mask).To4()}),
	)
}

// enterRoot makes the folder the root and becomes the agent.
func (p plan) enterRoot(root string) error {
	old := filepath.Join(root, ".old")
	if err := os.MkdirAll(old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(root, old); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	if err := errors.Join(os.Chdir("/"), unix.Unmount("/.old", unix.MNT_DETACH)); err != nil {
		return err
	}
	return unix.Exec(p.First[0], p.First, []string{"PATH=" + searchPath})
}
