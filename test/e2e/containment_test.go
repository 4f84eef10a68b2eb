//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// escapeProgram tries to get out of where it runs; the tests of the cloud on a host run it in instances.
	escapeProgram = "cloud/local/hosttest/testdata/agent"
	// nodeFolder is a folder of a node that its instance has for itself.
	nodeFolder = "/var/lib/kubelet/foo-e2e"
)

// needUserNamespace are the ways out that the kernel leaves to those who are root of an instance without a user namespace.
var needUserNamespace = []string{
	"devtmpfs", "settings-remount", "settings-fresh-proc", "sysrq", "sysfs-remount", "sysfs-fresh", "tracefs", "debugfs", "securityfs", "configfs",
	"pstore", "efivarfs", "binary-formats", "bpf", "kernel-log",
}

var _ = Describe("A node", Ordered, Label("containment", "host-safety"), func() {
	const namespace = "containment"
	var (
		c                *cluster
		node, other      corev1.Node
		neighbour, apart *corev1.Pod
		// id is that of the instance of the node.
		id string
		// hostFiles are the files of the host before there is an instance.
		hostFiles map[string]string
	)

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		putBait()
		hostFiles = fingerprints()
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "rude"},
			shape{controlPlanes: 1, workers: 2, version: currentVersion, workerType: narrowType}, commandsBeforeKubeadm(m.rudeToFiles()...))
		DeferCleanup(func(ctx SpecContext) {
			m.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", "rude")
			Expect(fingerprints()).To(Equal(hostFiles), "files of the host have changed")
		}, NodeTimeout(clusterGone))
		c.available(ctx)
		workers := workersOf(c.nodesReady(ctx, 1, 2))
		node, other = workers[0], workers[1]
		id = instanceOf(node)
		neighbour = c.podReady(ctx, c.runPod(ctx, "neighbour", node.Name, corev1.Container{Image: shellImage, Command: hello}, critical))
		apart = c.podReady(ctx, c.runPod(ctx, "apart", other.Name, corev1.Container{Image: shellImage, Command: hello}))
	}, NodeTimeout(2*clusterUp))

	// undisturbed expects that neither the Pods beside nor the Nodes have noticed anything.
	undisturbed := func(ctx context.Context) {
		GinkgoHelper()
		for _, pod := range []*corev1.Pod{neighbour, apart} {
			now := c.podReady(ctx, pod)
			Expect(now.Status.ContainerStatuses[0].RestartCount).To(BeZero(), pod.Name)
			Expect(now.Status.ContainerStatuses[0].ContainerID).To(Equal(pod.Status.ContainerStatuses[0].ContainerID), pod.Name)
			Expect(c.on(ctx, "exec", pod.Name, "--", "hostname")).To(Equal(pod.Name + "\n"))
		}
		nodes := c.nodesReady(ctx, 1, 2)
		for _, before := range []corev1.Node{node, other} {
			for _, now := range nodes {
				if now.Name == before.Name {
					Expect(readySince(now)).To(Equal(readySince(before)), "Node %s was not Ready all the time", now.Name)
				}
			}
		}
	}

	It("changes no file of the host, whatever a bootstrap command does", func(ctx SpecContext) {
		Expect(fingerprints()).To(Equal(hostFiles))
		inside := filepath.Join("/proc", fmt.Sprint(instanceInit(c.controlPlaneFooMachines(Default, ctx)[0].Status.InstanceID)), "root")
		Expect(filepath.Join(inside, intruder)).To(BeAnExistingFile())
		Expect(filepath.Join(inside, bait)).NotTo(BeAnExistingFile())
	}, NodeTimeout(soon))

	It("is not disturbed by a Pod that makes more and more processes", func(ctx SpecContext) {
		bomb := c.runPod(ctx, "bomb", node.Name, corev1.Container{
			Image: shellImage, Command: []string{"sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 1000"},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")}},
		})
		Eventually(func(g Gomega) {
			g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(bomb), bomb)).To(Succeed())
			g.Expect(bomb.Status.ContainerStatuses).To(HaveLen(1))
			g.Expect(bomb.Status.ContainerStatuses[0].State.Waiting).To(BeNil(), "it has been started")
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		// On another node nothing may be felt at all.
		Expect(c.on(ctx, "exec", apart.Name, "--", "hostname")).To(Equal(apart.Name + "\n"))
		c.on(ctx, "delete", "pod", bomb.Name, "--grace-period=1")
		undisturbed(ctx)
	}, NodeTimeout(clusterUp))

	It("is not disturbed by a Pod that takes all its memory", func(ctx SpecContext) {
		greedy := c.runPod(ctx, "greedy", node.Name, corev1.Container{
			// It wants to have a whole line in memory, the line never ends, and it has no limit of its own.
			Image: shellImage, Command: []string{"tail", "/dev/zero"},
		})
		Eventually(func(g Gomega) {
			g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(greedy), greedy)).To(Succeed())
			g.Expect(greedy.Status.Phase).To(Equal(corev1.PodFailed))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "nobody has ended it")
		// The kernel lets whoever it kills take some last pages.
		Expect(mostMemoryOf(id)).To(BeNumerically("~", narrowMemory, narrowMemory/100), "it had all of its instance's, and nothing of the host's beside")
		undisturbed(ctx)
		c.on(ctx, "delete", "pod", greedy.Name)
	}, NodeTimeout(clusterUp))

	It("is not disturbed by a Pod that floods its console, of which the host keeps little", func(ctx SpecContext) {
		loud := c.runPod(ctx, "loud", node.Name, corev1.Container{
			Image: shellImage, Command: []string{"sh", "-c", "for i in 1 2 3 4; do yes 'a line that says nothing' > /proc/1/fd/1 & done; wait"},
		}, privileged)
		rotated := filepath.Join(c.folderOf(id), "console.log.1")
		Eventually(rotated).WithContext(ctx).WithTimeout(clusterUp).Should(BeAnExistingFile(), "the console is not flooded")
		first, err := os.Stat(rotated)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			now, err := os.Stat(rotated)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.ModTime()).NotTo(Equal(first.ModTime()))
		}).WithContext(ctx).Should(Succeed(), "the flood does not go on")
		undisturbed(ctx)
		Expect(c.logged(ctx, id)).To(ContainSubstring("a line that says nothing"))
		logs, err := filepath.Glob(filepath.Join(c.folderOf(id), "console.log*"))
		Expect(err).NotTo(HaveOccurred())
		kept := int64(0)
		for _, log := range logs {
			info, err := os.Stat(log)
			Expect(err).NotTo(HaveOccurred())
			kept += info.Size()
		}
		Expect(kept).To(BeNumerically("<", 21<<20), "what the host keeps of it")
		c.on(ctx, "delete", "pod", loud.Name, "--grace-period=1")
		undisturbed(ctx)
	}, NodeTimeout(clusterUp))

	It("is not disturbed by a Pod that fills its disk, and has room again once the Pod is gone", func(ctx SpecContext) {
		disk, image := c.diskOf(id), filepath.Join(c.folderOf(id), "disk.img")
		Expect(image).To(BeARegularFile(), "the disk of the instance is not limited, and filling it would fill the host's")
		full := c.runPod(ctx, "full", node.Name, corev1.Container{
			Image: shellImage, Command: []string{"sh", "-c", "cat /dev/zero > /full; sleep infinity"},
		})
		Eventually(roomOn).WithArguments(disk).WithContext(ctx).WithTimeout(clusterUp).Should(BeNumerically("<", 4<<20), "the disk is not full")
		undisturbed(ctx)
		By("writing to the disk of another node, and to that of the cloud")
		c.on(ctx, "exec", apart.Name, "--", "sh", "-ec", "head -c 10M /dev/zero > /new; sync /new; rm /new")
		c.askCloud(Default, ctx, http.MethodPut, "/v1/load-balancers/beside", []byte(`{"name": "beside", "port": 6443, "selector": {"name": "nobody"}}`))
		c.askCloud(Default, ctx, http.MethodDelete, "/v1/load-balancers/beside", nil)
		Eventually(func() []named { return foocloud[[]named](ctx, c.management, "load-balancers") }).WithContext(ctx).ShouldNot(ContainElement(named{Name: "beside"}))
		var stat unix.Stat_t
		Expect(unix.Stat(image, &stat)).To(Succeed())
		Expect(stat.Blocks*512).To(BeNumerically("<=", narrowDisk), "what the host has of it")

		By("removing what fills it")
		c.on(ctx, "delete", "pod", full.Name, "--grace-period=1")
		Eventually(roomOn).WithArguments(disk).WithContext(ctx).WithTimeout(clusterUp).Should(BeNumerically(">", narrowDisk/2), "the disk stays full")
		after := c.podReady(ctx, c.runPod(ctx, "after", node.Name, corev1.Container{Image: shellImage, Command: hello}))
		c.on(ctx, "delete", "pod", after.Name)
		undisturbed(ctx)
	}, NodeTimeout(2*clusterUp))

	It("neither reaches nor hears the instances of another tenant, even from a privileged Pod", func(ctx SpecContext) {
		theirs := c.bootStranger(ctx)
		nosy := c.podReady(ctx, c.runPod(ctx, "nosy", node.Name, corev1.Container{Image: shellImage, Command: hello}, privileged))
		run := func(script string) outcome {
			return end(command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "exec", nosy.Name, "--", "bash", "-c", script))
		}
		connect := func(address string, port int) string {
			return fmt.Sprintf("timeout 5 bash -c '</dev/tcp/%s/%d'", address, port)
		}
		By("connecting")
		Expect(run(connect(addressOf(other), kubeletPort)).code).To(BeZero(), "it reaches the kubelet of its own tenant's node")
		Expect(run(connect(theirs.Address, strangerPort)).code).NotTo(BeZero(), "it reaches it")
		direct := run(fmt.Sprintf("ip neigh replace %s lladdr %s dev eth0 && echo replaced; %s", theirs.Address, hardwareOf(theirs.Address),
			connect(theirs.Address, strangerPort)))
		Expect(direct.stdout).To(Equal("replaced\n"), direct.stderr)
		Expect(direct.code).NotTo(BeZero(), "it reaches it straight by its card")

		By("listening, while both call whoever has an address")
		calling := c.podReady(ctx, c.runPod(ctx, "calling", other.Name, corev1.Container{
			Image: shellImage, Command: []string{"bash", "-c", callEverybody},
		}, privileged))
		heard := run("perl -e '" + listen20s + "'")
		Expect(heard.code).To(BeZero(), heard.stderr)
		Expect(strings.Fields(heard.stdout)).To(ContainElement(addressOf(other)), "it hears its own tenant's")
		Expect(strings.Fields(heard.stdout)).NotTo(ContainElement(theirs.Address))
		c.on(ctx, "delete", "pod", nosy.Name, calling.Name, "--grace-period=1")
		undisturbed(ctx)
	}, NodeTimeout(2*clusterUp))

	for _, from := range []struct {
		who   string
		start []string
	}{
		{"a privileged Pod", []string{"/node" + nodeFolder + "/try"}},
		// A program that is started like this has the namespaces of the instance's first process.
		{"a process outside of its containers", []string{"chroot", "/node", "nsenter", "--target=1", "--all", nodeFolder + "/try"}},
	} {
		It("is not left by "+from.who+", which changes nothing of the host", func(ctx SpecContext) {
			By("laying out on the host what they look for")
			precious := filepath.Join(suiteDir, "precious")
			Expect(os.WriteFile(precious, []byte("the host's\n"), 0o644)).To(Succeed())
			name := filepath.Base(suiteDir)
			listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", "@"+name)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(listener.Close)
			buildEscape(ctx, id)
			before := hostSettings()

			By("trying")
			rude := c.runPod(ctx, "rude", node.Name, corev1.Container{
				Image: shellImage, VolumeMounts: []corev1.VolumeMount{{Name: "node", MountPath: "/node"}},
				Command: append(from.start, "escape", "--file", precious, "--state", filepath.Join(c.state, "cloud"), "--bridge", suiteBridge,
					"--program", "foocloud", "--abstract", name, "--key", name, "--disk", deviceOf(precious)),
			}, privileged, func(spec *corev1.PodSpec) {
				spec.Volumes = []corev1.Volume{{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			})
			Eventually(func(g Gomega) {
				g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(rude), rude)).To(Succeed())
				g.Expect(rude.Status.Phase).To(Equal(corev1.PodSucceeded))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
			log := c.on(ctx, "logs", rude.Name)
			tries := regexp.MustCompile(`(?m)^([a-z-]+): (ESCAPED|held: .*)$`).FindAllStringSubmatch(log, -1)
			Expect(len(tries)).To(BeNumerically(">=", 35), log)
			for _, try := range tries {
				if try[2] == "ESCAPED" {
					Expect(needUserNamespace).To(ContainElement(try[1]), log)
				}
			}
			Expect(hostSettings()).To(Equal(before))
			c.on(ctx, "delete", "pod", rude.Name)
			undisturbed(ctx)
		}, NodeTimeout(clusterUp))
	}
})

// buildEscape brings the program that tries to get out to the instance of a node.
func buildEscape(ctx context.Context, id string) {
	GinkgoHelper()
	inside := filepath.Join("/proc", fmt.Sprint(instanceInit(id)), "root", nodeFolder)
	Expect(os.MkdirAll(inside, 0o755)).To(Succeed())
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(inside, "try"), "./"+escapeProgram)
	build.Dir, build.Env = filepath.Dir(bin), append(os.Environ(), "CGO_ENABLED=0")
	text, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(text))
}

// hostSettings are settings of the host that no pod may change.
func hostSettings() map[string]string {
	GinkgoHelper()
	settings := map[string]string{}
	for _, path := range []string{
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/swappiness", "/proc/modules", "/proc/swaps",
	} {
		// Not every kernel has all of them.
		text, err := os.ReadFile(path)
		settings[path] = fmt.Sprint(string(text), err)
	}
	for _, folder := range []string{"/dev", "/proc/sys/fs/binfmt_misc"} {
		entries, err := os.ReadDir(folder)
		for _, entry := range entries {
			settings[folder] += entry.Name() + "\n"
		}
		settings[folder] += fmt.Sprint(err)
	}
	return settings
}

// deviceOf is the numbers of the device that a file lies on.
func deviceOf(path string) string {
	GinkgoHelper()
	text, err := exec.Command("stat", "--format=%Hd:%Ld", path).Output()
	Expect(err).NotTo(HaveOccurred())
	return strings.TrimSpace(string(text))
}
