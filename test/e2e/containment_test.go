//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// escapeProgram tries to get out of where it runs; the tests of the cloud on a host run it in instances.
	escapeProgram = "internal/cloud/local/hosttest/testdata/agent"
	// nodeFolder is a folder of a node that its instance has for itself.
	nodeFolder = "/var/lib/kubelet/foo-e2e"
)

// needUserNamespace are the ways out that the kernel leaves to those who are root of an instance without a user namespace.
var needUserNamespace = []string{
	"devtmpfs", "settings-remount", "settings-fresh-proc", "sysrq", "sysfs-remount", "sysfs-fresh", "tracefs", "debugfs", "securityfs", "configfs",
	"pstore", "efivarfs", "binary-formats", "bpf", "kernel-log",
}

var _ = Describe("Pods of a node", Ordered, Label("containment"), func() {
	const namespace = "containment"
	var (
		c                *cluster
		node, other      corev1.Node
		neighbour, apart *corev1.Pod
	)

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "rude"}, shape{controlPlanes: 1, workers: 2, version: currentVersion})
		DeferCleanup(func(ctx SpecContext) {
			m.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", "rude")
		}, NodeTimeout(clusterGone))
		c.available(ctx)
		workers := workersOf(c.nodesReady(ctx, 1, 2))
		node, other = workers[0], workers[1]
		neighbour = c.podReady(ctx, c.runPod(ctx, "neighbour", node.Name, corev1.Container{Image: shellImage, Command: hello}))
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

	It("are not disturbed by one that makes more and more processes", func(ctx SpecContext) {
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

	It("do not get out of their node's instance, though privileged, and change nothing of the host", func(ctx SpecContext) {
		id := node.Spec.ProviderID[strings.LastIndex(node.Spec.ProviderID, "/")+1:]
		By("laying out on the host what they look for")
		precious := filepath.Join(suiteDir, "precious")
		Expect(os.WriteFile(precious, []byte("the host's\n"), 0o644)).To(Succeed())
		name := filepath.Base(suiteDir)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", "@"+name)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(listener.Close)
		By("bringing the program that tries to the node")
		inside := filepath.Join("/proc", fmt.Sprint(instanceInit(id)), "root", nodeFolder)
		Expect(os.MkdirAll(inside, 0o755)).To(Succeed())
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(inside, "try"), "./"+escapeProgram)
		build.Dir, build.Env = filepath.Dir(bin), append(os.Environ(), "CGO_ENABLED=0")
		text, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(text))
		before := hostSettings()

		By("trying")
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "rude"},
			Spec: corev1.PodSpec{
				NodeName: node.Name, RestartPolicy: corev1.RestartPolicyNever, HostPID: true, HostNetwork: true, HostIPC: true,
				Volumes: []corev1.Volume{{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}},
				Containers: []corev1.Container{{
					Name: "rude", Image: shellImage, SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
					VolumeMounts: []corev1.VolumeMount{{Name: "node", MountPath: "/node"}},
					Command: []string{
						"/node" + nodeFolder + "/try", "escape", "--file", precious, "--state", filepath.Join(c.state, "cloud"), "--bridge", suiteBridge,
						"--program", "foocloud", "--abstract", name, "--key", name, "--disk", deviceOf(precious),
					},
				}},
			},
		}
		Expect(c.workload.Create(ctx, pod)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
			g.Expect(pod.Status.Phase).To(Equal(corev1.PodSucceeded))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		log := c.on(ctx, "logs", pod.Name)
		tries := regexp.MustCompile(`(?m)^([a-z-]+): (ESCAPED|held: .*)$`).FindAllStringSubmatch(log, -1)
		Expect(len(tries)).To(BeNumerically(">=", 35), log)
		for _, try := range tries {
			if try[2] == "ESCAPED" {
				Expect(needUserNamespace).To(ContainElement(try[1]), log)
			}
		}
		Expect(hostSettings()).To(Equal(before))
		undisturbed(ctx)
	}, NodeTimeout(clusterUp))
})

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
