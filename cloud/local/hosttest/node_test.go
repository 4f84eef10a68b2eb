//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

const (
	// patient is how long kubeadm, and then Kubernetes, may take on a busy machine.
	patient = 10 * time.Minute

	// agentPatience is how long the node agent waits in each step of an instance's shutdown before
	// it kills processes. A machine that was held up for a good part of that proves nothing about
	// how pods end.
	agentPatience = 5 * time.Second

	// initData brings up a control plane without CoreDNS.
	initData = `#cloud-config
write_files:
- path: /run/kubeadm.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: InitConfiguration
    nodeRegistration: {taints: []}
    skipPhases: [addon/coredns]
    ---
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: ClusterConfiguration
    kubernetesVersion: ` + version + `
    networking: {podSubnet: 10.244.0.0/16}
    encryptionAlgorithm: ECDSA-P256
    etcd: {local: {extraArgs: [{name: unsafe-no-fsync, value: "true"}]}}
    ---
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    mode: nftables
    conntrack: {maxPerCore: 0}
runcmd:
- kubeadm init --config /run/kubeadm.yaml
`
	// failData writes 50 MiB and then fails.
	failData = `#cloud-config
runcmd:
- yes 'a line that says nothing' | head -c 50M
- kubeadm join --config /nowhere
`
)

// demanded are the kernel settings below /proc/sys that the kubelet requires.
var demanded = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// host returns the host's values of what an instance has its own view of.
func host() map[string]string {
	said := map[string]string{"swaps": readFile("/proc/swaps"), "boot": readFile("/proc/sys/kernel/random/boot_id")}
	for name := range demanded {
		said[name] = readFile(filepath.Join("/proc/sys", name))
	}
	return said
}

// node is an instance that runs the real agent.
type node struct {
	*daemon
	cloud.Instance
}

// try runs a shell command as root in the instance, and returns its output with surrounding white
// space trimmed.
func (n *node) try(command string) (string, error) {
	pid := strconv.Itoa(n.firstProcess(n.ID))
	cmd := exec.Command("nsenter", "--target", pid, "--all", "--wd", "sh", "-c", command)
	path, _, _ := strings.Cut(readFile("/proc/"+pid+"/environ"), "\x00")
	cmd.Env = []string{path, "HOME=/root", "KUBECONFIG=/etc/kubernetes/admin.conf"}
	output, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

func (n *node) do(command string) string {
	GinkgoHelper()
	output, err := n.try(command)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

// kubectl returns an assertion that repeats a kubectl command in the instance.
func (n *node) kubectl(command string) AsyncAssertion {
	GinkgoHelper()
	return Eventually(n.try, patient, "500ms").WithArguments("kubectl " + command)
}

// inPods returns the PIDs, in the instance, of the control plane programs that end only together
// with the instance.
func (n *node) inPods() string {
	GinkgoHelper()
	return n.do("pgrep --exact 'etcd|kube-apiserver'")
}

// private returns the path on the host of a path in the instance's private folders.
func (n *node) private(path string) string {
	return filepath.Join(n.state, "instances", n.ID, "private", path)
}

// bootNode creates an instance and returns it once its bootstrap data has run.
func (d *daemon) bootNode(ctx SpecContext, name, kind, data string) *node {
	GinkgoHelper()
	wanted := spec(name, data)
	wanted.Type = kind
	made, err := d.client.EnsureInstance(ctx, wanted)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() (cloud.BootstrapState, error) {
		made, err = d.client.GetInstance(ctx, made.ID)
		return made.Bootstrap.State, err
	}, patient, "200ms").Should(BeElementOf(cloud.BootstrapSucceeded, cloud.BootstrapFailed), func() string {
		return "bootstrap data ends by itself: " + d.run("logs", made.ID)
	})
	return &node{daemon: d, Instance: made}
}

var _ = Describe("node", Ordered, func() {
	var (
		d           *daemon
		one, failed *node
		before      map[string]string
		shared      []string
		sharedSum   string
	)

	BeforeAll(func(ctx SpecContext) {
		// The image of a release boots; another spec shows that instances have the same files without it.
		system := unpackNode()
		images := filepath.Join(programs.folder, "released")
		Expect(os.Mkdir(images, 0o755)).To(Succeed())
		Expect(os.Symlink(filepath.Join(system, "opt/foo/kubernetes"), filepath.Join(images, version))).To(Succeed())
		shared = []string{filepath.Join(system, "opt/foo")}
		sharedSum, before = fingerprint(shared...), host()
		d = prepare()
		d.start("--system-dir", system, "--images-dir", images, "--agent", filepath.Join(system, "opt/foo/bin/foonode"))
		one = d.bootNode(ctx, "one", "large", initData)
	})

	It("becomes a control plane of the size of its type, also if the host has fewer CPUs", func() {
		Expect(one.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), d.run("logs", one.ID))
		one.kubectl(`get node one -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.nodeInfo.containerRuntimeVersion}`+
			` {.spec.providerID} {.status.capacity.cpu} {.status.capacity.memory}'`).
			Should(Equal("True containerd://2.4.2 "+one.ProviderID+" 4 8Gi"), "the kubelet registers by itself")
		one.kubectl("get pods -n kube-system -o 'jsonpath={.items[*].status.containerStatuses[0].ready}'").
			Should(Equal("true true true true true"), "etcd, the three programs and kube-proxy start by themselves")
		one.kubectl("get serviceaccount default -o name").Should(Equal("serviceaccount/default"), "pods of the stories below need it")
	})

	It("shows its programs a machine of their own, and leaves the host as it is", func() {
		Expect(one.do("cat /proc/meminfo")).To(MatchRegexp(`(?s)MemTotal: +8388608 kB.*SwapTotal: +0 kB`))
		Expect(one.do("cat /proc/swaps")).To(MatchRegexp(`^Filename.*$`))
		Expect(one.do("grep -c ^processor /proc/cpuinfo")).To(Equal("4"))
		for name, value := range demanded {
			Expect(one.do("cat /proc/sys/"+name)).To(Equal(value), name)
		}
		Expect(one.do("cat /proc/sys/kernel/random/boot_id")).NotTo(Equal(strings.TrimSpace(before["boot"])))
		Expect(host()).To(Equal(before))
	})

	It("keeps each process of a pod in the instance's cgroup", func() {
		var names []string
		for _, pid := range d.processes(filepath.Join(d.state, "instances", one.ID) + "/") {
			name, group := strings.TrimSpace(readFile(fmt.Sprintf("/proc/%d/comm", pid))), readFile(fmt.Sprintf("/proc/%d/cgroup", pid))
			// A process that has ended meanwhile has no cgroup.
			if group != "" && (name == "etcd" || strings.HasPrefix(name, "kube-")) {
				names = append(names, name)
				Expect(group).To(MatchRegexp(`(?m)^[0-9]+:(memory)?:/foo/`+one.ID+`/instance/kubepods/`), name)
			}
		}
		Expect(names).To(ContainElements("etcd", "kube-apiserver", "kube-scheduler"))
	})

	It("manages its services by systemctl", func() {
		Expect(one.do("systemctl is-active containerd kubelet; systemctl is-enabled containerd kubelet")).
			To(Equal("active\nactive\nenabled\nenabled"))
		Expect(one.do("systemctl stop kubelet; systemctl is-active kubelet; echo $?; pidof kubelet; echo $?")).To(Equal("inactive\n3\n1"))
		Expect(one.do("systemctl start kubelet && systemctl is-active kubelet && pidof kubelet")).To(MatchRegexp(`^active\n[0-9]+$`))
		Expect(one.do("systemctl start chronyd; echo $?")).To(And(ContainSubstring("Unit chronyd.service not found"), HaveSuffix("\n5")))
	})

	It("goes on with its pods when containerd is restarted or killed", func() {
		pods, runtime := one.inPods(), one.do("pidof containerd")
		Expect(strings.Fields(pods)).To(HaveLen(2))
		one.do("systemctl restart containerd && systemctl is-active containerd")
		restarted := one.do("pidof containerd")
		Expect(restarted).NotTo(Equal(runtime))
		Expect(one.inPods()).To(Equal(pods))

		one.do("kill -9 " + restarted)
		Eventually(one.try, soon).WithArguments("pidof containerd").ShouldNot(Or(BeEmpty(), Equal(restarted)), "the agent starts it again")
		Eventually(one.try, soon).WithArguments("systemctl is-active containerd").Should(Equal("active"), "it starts by itself")
		one.do("kubectl run late --image registry.k8s.io/pause:3.10.2 --image-pull-policy Never --restart Never")
		one.kubectl("get pod late -o 'jsonpath={.status.phase}'").Should(Equal("Running"), "containerd takes new pods")
		Expect(one.inPods()).To(Equal(pods))
	})

	It("reports bootstrap data that fails, however much that has written", func(ctx SpecContext) {
		failed = d.bootNode(ctx, "failed", "small", failData)
		Expect(failed.State).To(Equal(cloud.InstanceRunning))
		Expect(failed.Bootstrap.State).To(Equal(cloud.BootstrapFailed))
		Expect(failed.Bootstrap.Message).To(MatchRegexp(`^runcmd\[1\] "kubeadm join --config /nowhere" ended with exit code 1: .*/nowhere`))
		console := d.log(failed.ID, "ended with exit code 1")
		Expect(len(console)).To(BeNumerically("<", 5<<20))
		sizes := int64(0)
		for _, name := range []string{"log/cloud-init-output.log", "log/cloud-init-output.log.1"} {
			info, err := os.Stat(failed.private(name))
			Expect(err).NotTo(HaveOccurred())
			sizes += info.Size()
		}
		Expect(sizes).To(And(BeNumerically(">", 10<<20), BeNumerically("<=", 20<<20)))
	})

	It("has the images of its version, and cannot change what others share", func() {
		Expect(one.do("ctr -n k8s.io images ls -q")).To(ContainSubstring("registry.k8s.io/kube-apiserver:" + version + "\n"))
		// Compare a sample of each. The failed instance can do without its programs.
		const sums = `find /opt/foo/store/snapshots -type f | sort | tail -n 50 | xargs sha256sum; sha256sum /opt/foo/kubernetes/kubernetes`
		expected := one.do(sums)
		failed.do(`for folder in / /opt/foo/kubernetes /opt/foo/store; do mount -o remount,rw $folder; mount -o remount,rw,bind $folder; done
for file in /opt/foo/kubernetes/kubernetes $(find /opt/foo/store/snapshots/*/fs -type f); do echo mine > $file; done
touch /opt/foo/store/snapshots/1/fs/mine`)
		Expect(failed.do("cat /opt/foo/kubernetes/kubernetes")).To(Equal("mine"))
		Expect(one.do(sums)).To(Equal(expected))
		Expect(fingerprint(shared...)).To(Equal(sharedSum))
	})

	It("ends in time and in order, and comes back with its data", func(ctx SpecContext) {
		one.do("kubectl create configmap kept")
		watch, began := stopwatch.Start(ctx), time.Now()
		d.run("instance", "stop", one.ID)
		Expect(d.awaitState(ctx, one.ID, cloud.InstanceStopped).Message).To(Equal("stopped by a user"))
		ended := time.Now()
		AddReportEntry("the instance ended after", ended.Sub(began))
		_, end, _ := strings.Cut(d.log(one.ID, "Instance has stopped"), "Instance stops")
		logs, err := filepath.Glob(one.private("log/pods/kube-system_etcd-one_*/etcd/0.log"))
		Expect(err).NotTo(HaveOccurred())
		Expect(logs).To(HaveLen(1))
		if watch.HeldUp(began, ended) < agentPatience/2 {
			Expect(end).NotTo(ContainSubstring("level=WARN"), "nothing had to be killed")
			Expect(readFile(logs[0])).To(ContainSubstring("closed etcd server"))
		}

		d.run("instance", "start", one.ID)
		d.awaitState(ctx, one.ID, cloud.InstanceRunning)
		one.kubectl("get configmap kept -o name").Should(Equal("configmap/kept"), "the pods start by themselves")
		one.kubectl("get pod -n kube-system etcd-one -o 'jsonpath={.status.containerStatuses[0].restartCount}'").
			Should(Equal("1"), "containerd knows the container that was before")
	})
})
