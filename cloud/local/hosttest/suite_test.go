//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttest tests the local cloud on a real host. It builds foocloud, boots instances and
// load balancers, kills daemons and processes, and checks what is left on the host. The tests need
// root and Linux, and are built only with the tag "host":
//
//	go test -tags host ./cloud/local/hosttest
//
// Most instances run a small test agent in place of foonode, and no Kubernetes. The instances in
// node_test.go run the node image of a release, which `make images` has written.
package hosttest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

const (
	module  = "github.com/capfoo/cluster-api-provider-foo"
	version = "v1.36.3"
	// soon is how long a process may take to start or end on a machine that may have only a tenth
	// of its CPU time, or whose kernel is busy with thousands of processes that fork.
	soon = 5 * time.Minute
	// scriptEnded is what the test agent prints after all output of its script.
	scriptEnded = "agent: the script has ended"
)

func TestHost(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "local cloud on a real host", Label("host"))
}

// programs are the programs and folders that the suite prepares once.
var programs struct{ folder, foocloud, agent, images, system string }

var _ = BeforeSuite(func() {
	Expect(os.Geteuid()).To(BeZero(), "these tests need root")
	folder, err := os.MkdirTemp("", "foo-hosttest-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, folder)
	programs.folder = folder
	programs.foocloud = build("foocloud", module+"/cmd/foocloud")
	programs.agent = build("agent", "./testdata/agent")
	programs.system, err = filepath.Abs("../../../bin/system")
	Expect(err).NotTo(HaveOccurred())
	Expect(filepath.Join(programs.system, "etc/os-release")).To(BeAnExistingFile(), "make node makes the operating system of nodes")
	programs.images = filepath.Join(folder, "images")
	// The image only needs to exist: the test agent starts nothing from it.
	image := filepath.Join(programs.images, version)
	Expect(os.MkdirAll(image, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(image, "kubernetes"), nil, 0o755)).To(Succeed())
})

func build(name, pkg string) string {
	GinkgoHelper()
	path := filepath.Join(programs.folder, name)
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	return path
}

// daemon is a foocloud with its own state folder, interface and network.
type daemon struct {
	state, bridge, network string
	cmd                    *exec.Cmd
	output                 *bytes.Buffer
	client                 *client.Client
}

var daemons int

// newDaemon starts a daemon. The daemon and everything it created are removed when the spec ends,
// whatever its result.
func newDaemon(arguments ...string) *daemon {
	GinkgoHelper()
	d := prepare()
	d.start(arguments...)
	return d
}

func prepare() *daemon {
	GinkgoHelper()
	daemons++
	folder, err := os.MkdirTemp("", "foo-hosttest-state-")
	Expect(err).NotTo(HaveOccurred())
	d := &daemon{
		state: filepath.Join(folder, "state"), bridge: fmt.Sprintf("fooht%d", daemons),
		network: fmt.Sprintf("10.91.%d.0/24", daemons),
	}
	DeferCleanup(os.RemoveAll, folder)
	DeferCleanup(d.destroy)
	return d
}

func (d *daemon) command(arguments ...string) *exec.Cmd {
	all := append([]string{
		"serve", "--state-dir", d.state, "--bridge", d.bridge, "--network", d.network,
		"--system-dir", programs.system, "--images-dir", programs.images, "--agent", programs.agent,
	}, arguments...)
	return exec.Command(programs.foocloud, all...)
}

func (d *daemon) start(arguments ...string) {
	GinkgoHelper()
	d.cmd = d.command(arguments...)
	d.output = &bytes.Buffer{}
	d.cmd.Stderr = d.output
	Expect(d.cmd.Start()).To(Succeed())
	var err error
	d.client, err = client.NewClient(client.Options{Endpoint: d.endpoint(), TokenFile: filepath.Join(d.state, "token")})
	Expect(err).NotTo(HaveOccurred())
	Eventually(d.client.Healthy, soon).WithContext(context.Background()).Should(Succeed(), func() string {
		return "the daemon serves soon after it starts: " + d.output.String()
	})
}

func (d *daemon) endpoint() string { return "unix://" + filepath.Join(d.state, "foocloud.sock") }

// kill sends a signal to the daemon and waits until it has ended.
func (d *daemon) kill(signal syscall.Signal) {
	GinkgoHelper()
	if d.cmd == nil {
		return
	}
	Expect(d.cmd.Process.Signal(signal)).To(Succeed())
	// Wait returns an error for a killed process, which is expected here.
	_ = d.cmd.Wait()
	d.cmd = nil
}

func (d *daemon) destroy() {
	GinkgoHelper()
	d.kill(syscall.SIGTERM)
	if _, err := os.Stat(filepath.Join(d.state, "state.db")); err != nil {
		return
	}
	output, err := exec.Command(programs.foocloud, "destroy", "--yes", "--state-dir", d.state).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
}

// terminal runs a foocloud command, which may fail, against the daemon.
func (d *daemon) terminal(arguments ...string) (string, error) {
	cmd := exec.Command(programs.foocloud, arguments...)
	cmd.Env = append(os.Environ(), "FOO_CLOUD_ENDPOINT="+d.endpoint(), "FOO_CLOUD_TOKEN_FILE="+filepath.Join(d.state, "token"))
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// run runs a foocloud command against the daemon and expects it to succeed.
func (d *daemon) run(arguments ...string) string {
	GinkgoHelper()
	output, err := d.terminal(arguments...)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

// log returns the console of an instance once it contains the text. The daemon reads the console
// from a pipe, possibly only after the instance has reported or ended.
func (d *daemon) log(id, text string) string {
	GinkgoHelper()
	var said string
	Eventually(func() (err error) {
		said, err = d.terminal("logs", id)
		if err == nil && !strings.Contains(said, text) {
			err = fmt.Errorf("%q is not in the log yet: %s", text, said)
		}
		return err
	}, soon).Should(Succeed())
	return said
}

func spec(name, script string) cloud.InstanceSpec {
	return cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: cloud.InstanceTemplate{
		Type: "small", KubernetesVersion: version, UserData: []byte(script), Tags: cloud.Tags{"cluster": "one"},
	}}
}

// boot creates an instance and returns it once its bootstrap data has run.
func (d *daemon) boot(ctx SpecContext, name, script string) cloud.Instance {
	GinkgoHelper()
	made, err := d.client.EnsureInstance(ctx, spec(name, script))
	Expect(err).NotTo(HaveOccurred())
	return d.await(ctx, made.ID, func(i cloud.Instance) bool {
		Expect(i.State).NotTo(Equal(cloud.InstanceFailed), i.Message)
		return i.Bootstrap.State == cloud.BootstrapSucceeded || i.Bootstrap.State == cloud.BootstrapFailed
	})
}

func (d *daemon) await(ctx SpecContext, id string, is func(cloud.Instance) bool) cloud.Instance {
	GinkgoHelper()
	var now cloud.Instance
	Eventually(func() (bool, error) {
		var err error
		now, err = d.client.GetInstance(ctx, id)
		return is(now), err
	}, soon).Should(BeTrue(), "the instance gets there by itself")
	return now
}

func (d *daemon) awaitState(ctx SpecContext, id string, state cloud.InstanceState) cloud.Instance {
	GinkgoHelper()
	return d.await(ctx, id, func(i cloud.Instance) bool { return i.State == state })
}

// firstProcess returns the host's PID of an instance's first process.
func (d *daemon) firstProcess(id string) int {
	GinkgoHelper()
	pid := d.findFirst(id)
	Expect(pid).NotTo(BeZero(), "instance "+id+" has no first process")
	return pid
}

// findFirst is like firstProcess, but returns zero if there is no such process.
func (d *daemon) findFirst(id string) int {
	GinkgoHelper()
	for _, pid := range d.processes(filepath.Join(d.state, "instances", id) + "/") {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("NSpid:\t%d\t1\n", pid)) {
			return pid
		}
	}
	return 0
}

// processes returns the PIDs of the processes that have a mount or an argument below a folder.
func (d *daemon) processes(folder string) []int {
	entries, err := os.ReadDir("/proc")
	Expect(err).NotTo(HaveOccurred())
	var list []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || (d.cmd != nil && pid == d.cmd.Process.Pid) {
			continue
		}
		mounts, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "mountinfo"))
		arguments, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if bytes.Contains(mounts, []byte(folder)) || bytes.Contains(arguments, []byte(folder)) {
			list = append(list, pid)
		}
	}
	return list
}
