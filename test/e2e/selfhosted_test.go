//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managers are the namespaces of the managers of a management cluster with Pods.
var managers = []string{
	"cert-manager", "capi-system", "capi-kubeadm-bootstrap-system",
	"control-plane-foo-system", "infrastructure-foo-system", "runtime-extension-foo-system",
}

// hosted returns the management cluster with Pods that a quick start has made.
func (m *management) hosted() *management {
	GinkgoHelper()
	other := *m
	other.kubeconfig = m.env["FOO_PODS_KUBECONFIG"]
	other.Client = newClient(other.kubeconfig)
	return &other
}

// deploymentsAvailable waits until all Deployments have all their replicas.
func (m *management) deploymentsAvailable(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var deployments appsv1.DeploymentList
		g.Expect(m.List(ctx, &deployments)).To(Succeed())
		g.Expect(deployments.Items).NotTo(BeEmpty())
		for _, one := range deployments.Items {
			g.Expect(one.Status.ObservedGeneration).To(Equal(one.Generation), one.Name)
			g.Expect(one.Status.AvailableReplicas).To(Equal(*one.Spec.Replicas), "%s/%s", one.Namespace, one.Name)
			g.Expect(one.Status.UpdatedReplicas).To(Equal(*one.Spec.Replicas), "%s/%s", one.Namespace, one.Name)
		}
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "a Deployment is not available")
}

// managerPods returns the Pods of managers.
func (m *management) managerPods(g Gomega, ctx context.Context) []corev1.Pod {
	var pods []corev1.Pod
	for _, namespace := range managers {
		var list corev1.PodList
		g.Expect(m.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		pods = append(pods, list.Items...)
	}
	return pods
}

// killManagers kills all Pods of managers at once.
func (m *management) killManagers(ctx context.Context) {
	GinkgoHelper()
	before := m.managerPods(Default, ctx)
	for i := range before {
		Expect(client.IgnoreNotFound(m.Delete(ctx, &before[i], client.GracePeriodSeconds(0)))).To(Succeed())
	}
	Eventually(func(g Gomega) {
		for _, pod := range m.managerPods(g, ctx) {
			for _, old := range before {
				g.Expect(pod.UID).NotTo(Equal(old.UID), "Pod %s is not gone", pod.Name)
			}
		}
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	m.deploymentsAvailable(ctx)
}

// expectManagers waits until all of Foo's managers run a release, with the memory limit of their
// namespace.
func (m *management) expectManagers(ctx context.Context, release string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found := 0
		for _, pod := range m.managerPods(g, ctx) {
			if strings.HasSuffix(pod.Namespace, "-foo-system") && pod.DeletionTimestamp.IsZero() {
				found++
				container := pod.Spec.Containers[0]
				g.Expect(container.Image).To(HaveSuffix(":"+release), pod.Name)
				g.Expect(container.Resources.Limits.Memory().String()).To(Equal("1Gi"), pod.Name)
			}
		}
		g.Expect(found).NotTo(BeZero())
	}).WithContext(ctx).Should(Succeed())
}

// refused returns the requests of managers that the API server denied, each after the name of the
// manager's Pod.
func (m *management) refused(ctx context.Context) []string {
	GinkgoHelper()
	var lines []string
	for _, pod := range m.managerPods(Default, ctx) {
		if !pod.DeletionTimestamp.IsZero() {
			continue // it may be gone by now
		}
		logs := []string{"--namespace=" + pod.Namespace, "logs", pod.Name, "--tail=-1"}
		said := m.kubectl(ctx, logs...)
		for _, container := range pod.Status.ContainerStatuses {
			if container.RestartCount > 0 {
				said += m.kubectl(ctx, append(logs, "--previous")...)
			}
		}
		for line := range strings.Lines(said) {
			if strings.Contains(line, "is forbidden: User") {
				lines = append(lines, pod.Name+": "+line)
			}
		}
	}
	return lines
}

// loadManagers loads the images of all managers into the cloud.
func (m *management) loadManagers(ctx context.Context) {
	GinkgoHelper()
	archives, err := filepath.Glob(filepath.Join(bin, "management/images/*.tar"))
	Expect(err).NotTo(HaveOccurred())
	Expect(archives).NotTo(BeEmpty(), "build them with `make e2e`")
	for _, archive := range archives {
		m.loadImage(ctx, archive)
	}
}

// loadNext loads Foo's images into the cloud under the names that the next release has for them.
func (m *management) loadNext(ctx context.Context) {
	GinkgoHelper()
	for _, program := range []string{"manager", "runtime-extension", "etcd-snapshot"} {
		m.loadImage(ctx, filepath.Join(bin, "management/images", program+"-"+lastRelease+".tar"),
			"--name=ghcr.io/capfoo/cluster-api-provider-foo/"+program+":"+nextRelease)
	}
}

func (m *management) loadImage(ctx context.Context, archive string, flags ...string) {
	GinkgoHelper()
	cmd := command(ctx, "foocloud", append([]string{"image", "load", archive}, flags...)...)
	cmd.Env = append(cmd.Env, m.cloudEnv()...)
	output(cmd)
}

// keeps runs an operation that adds instances, and expects that no Machine and no instance is
// replaced.
func (m *management) keeps(ctx context.Context, more int, do func()) {
	GinkgoHelper()
	machines, instances := m.machineUIDs(ctx), m.instances(ctx)
	do()
	Expect(m.machineUIDs(ctx).IsSuperset(machines)).To(BeTrue(), "Machines have been replaced")
	Expect(m.instances(ctx)).To(HaveLen(instances.Len() + more))
	Expect(m.instances(ctx).IsSuperset(instances)).To(BeTrue(), "instances have been replaced")
}

// machineUIDs returns the UIDs of the Machines of all clusters.
func (m *management) machineUIDs(ctx context.Context) sets.Set[types.UID] {
	GinkgoHelper()
	var machines clusterv1.MachineList
	Expect(m.List(ctx, &machines)).To(Succeed())
	return uidsOf(machines.Items)
}

// releases is clusterctl with the quick start's configuration, but with Foo's next release.
func (c *clusterctl) releases() *clusterctl {
	GinkgoHelper()
	content, err := os.ReadFile(c.config)
	Expect(err).NotTo(HaveOccurred())
	current := regexp.MustCompile(`/management/([a-z-]+-foo)/` + regexp.QuoteMeta(lastRelease) + `/`)
	Expect(current.Match(content)).To(BeTrue(), string(content))
	config := filepath.Join(suiteDir, "next.yaml")
	Expect(os.WriteFile(config, current.ReplaceAll(content, []byte("/release/$1/"+nextRelease+"/")), 0o600)).To(Succeed())
	return &clusterctl{config: config, env: c.env}
}

// What a user does who wants a management cluster that lasts: real Pods with the images, roles,
// webhooks and certificates that clusterctl installs, on Foo's own machines.
var _ = Describe("A management cluster with Pods", Ordered, Label("management", "slow", needsManagement, needsNextRelease), func() {
	const namespace = "default"
	var processes, pods *management
	var ctl *clusterctl
	var itself *cluster
	var fleet []*ledger
	works := func(ctx context.Context) {
		GinkgoHelper()
		itself.works(ctx)
		for _, one := range fleet {
			one.works(ctx)
		}
	}
	AfterEach(func(ctx SpecContext) {
		for _, m := range []*management{processes, pods} {
			if m != nil && CurrentSpecReport().Failed() {
				m.dump(ctx)
			}
		}
	}, NodeTimeout(soon))

	BeforeAll(func(ctx SpecContext) {
		processes = &management{state: filepath.Join(suiteDir, "processes"), bridge: quickstartBridge}
		processes.program = start(command(context.WithoutCancel(ctx), "foo", "quickstart", "--management", "--state-dir="+processes.state,
			"--bridge="+quickstartBridge, "--network="+quickstartNetwork, "--kubernetes-version="+currentVersion, "--timeout="+clusterUp.String()))
		DeferCleanup(processes.stop, NodeTimeout(clusterGone))
		processes.connect(ctx)
		pods = processes.hosted()
	}, NodeTimeout(3*clusterUp))

	It("comes up with one command", func(ctx SpecContext) {
		AddReportEntry("quickstart", string(processes.program.said.Contents()))
		pods.deploymentsAvailable(ctx)
		ctl = &clusterctl{config: processes.env["FOO_CLUSTERCTL_CONFIG"]}
		itself = &cluster{management: processes, key: client.ObjectKey{Namespace: namespace, Name: "hub"}, kubeconfig: filepath.Join(suiteDir, "itself.kubeconfig")}
		itself.available(ctx)
	}, NodeTimeout(clusterUp))

	It("makes 3 workload clusters", func(ctx SpecContext) {
		clusters := make([]*cluster, 0, 3)
		for _, name := range []string{"first", "second", "third"} {
			one := &cluster{management: pods, key: client.ObjectKey{Namespace: namespace, Name: name}, kubeconfig: filepath.Join(suiteDir, name+".kubeconfig")}
			manifest := filepath.Join(suiteDir, name+".yaml")
			Expect(os.WriteFile(manifest, []byte(ctl.generate(ctx, pods, one.key, lastRelease, "fast")), 0o600)).To(Succeed())
			pods.kubectl(ctx, "apply", "--filename="+manifest)
			clusters = append(clusters, one)
		}
		for _, one := range clusters {
			one.works(ctx)
			one.nodesReady(ctx, 1, 1)
			fleet = append(fleet, one.newLedger(ctx))
		}
		Expect(pods.refused(ctx)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(3*clusterUp))

	It("manages itself after a move under load", func(ctx SpecContext) {
		before := itself.footprint(ctx, processes)
		pods.keeps(ctx, 0, func() {
			underLoad(ctx, fleet, func() {
				ctl.run(ctx, processes, "move", "--namespace="+namespace, "--to-kubeconfig="+pods.kubeconfig)
				itself.arrived(ctx, processes, pods)
				works(ctx)
			})
		})
		Expect(itself.footprint(ctx, processes)).To(Equal(before), "the move has changed the cluster")
	}, NodeTimeout(2*clusterUp))

	It("upgrades Foo under load and while a pool grows, without replacing a Machine", func(ctx SpecContext) {
		processes.loadNext(ctx)
		next := ctl.releases()
		pods.keeps(ctx, 1, func() {
			underLoad(ctx, fleet, func() {
				fleet[0].scaleWorkers(ctx, 2)
				next.run(ctx, pods, "upgrade", "apply", "--control-plane=foo:"+nextRelease, "--infrastructure=foo:"+nextRelease,
					"--runtime-extension=foo:"+nextRelease)
				pods.deploymentsAvailable(ctx)
				fleet[0].nodesReady(ctx, 1, 2)
				works(ctx)
			})
		})
		pods.expectManagers(ctx, nextRelease)
		Expect(pods.refused(ctx)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(3*clusterUp))

	It("continues after all its managers were killed under load and while a pool grows", func(ctx SpecContext) {
		pods.keeps(ctx, 1, func() {
			underLoad(ctx, fleet, func() {
				fleet[1].scaleWorkers(ctx, 2)
				pods.killManagers(ctx)
				fleet[1].nodesReady(ctx, 1, 2)
				works(ctx)
			})
		})
		fleet[0].scaleWorkers(ctx, 1)
		fleet[2].scaleWorkers(ctx, 2)
		fleet[0].nodesReady(ctx, 1, 1)
		fleet[2].nodesReady(ctx, 1, 2)
		works(ctx)
		Expect(pods.refused(ctx)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(3*clusterUp))

	It("replaces its runtime extension while Cluster API calls it, and no call fails", func(ctx SpecContext) {
		pods.kubectl(ctx, "apply", "--filename="+filepath.Join(bin, "release/runtime-extension-foo", nextRelease, "extensionconfig.yaml"))
		one := &cluster{management: pods, key: client.ObjectKey{Namespace: namespace, Name: "patched"}, kubeconfig: filepath.Join(suiteDir, "patched.kubeconfig")}
		manifest := filepath.Join(suiteDir, "patched.yaml")
		Expect(os.WriteFile(manifest, []byte(ctl.releases().generate(ctx, pods, one.key, nextRelease, "topology-extension")), 0o600)).To(Succeed())
		pods.kubectl(ctx, "apply", "--filename="+manifest)
		one.available(ctx)

		one.expectNoFailedCall(ctx, func() {
			for range 3 {
				pods.replaceExtension(ctx)
			}
		})
	}, NodeTimeout(3*clusterUp))

	It("deletes its workload clusters", func(ctx SpecContext) {
		pods.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", "first", "second", "third", "patched")
		Expect(pods.instances(ctx)).To(HaveLen(2), "the machines of the management cluster")
	}, NodeTimeout(2*clusterGone))
})

var _ = Describe("A management cluster with Pods that is interrupted while clusterctl installs the providers", Label("management", "slow", needsManagement), func() {
	It("is continued", func(ctx SpecContext) {
		state := filepath.Join(suiteDir, "interrupted-pods")
		quickstart := func(args ...string) *exec.Cmd {
			return command(context.WithoutCancel(ctx), "foo", append([]string{"quickstart", "--state-dir=" + state}, args...)...)
		}
		began := start(quickstart("--management", "--keep", "--bridge="+quickstartBridge, "--network="+quickstartNetwork,
			"--kubernetes-version="+currentVersion, "--timeout="+clusterUp.String()))
		DeferCleanup(func(ctx SpecContext) { end(command(ctx, "foo", "quickstart", "delete", "--state-dir="+state)) }, NodeTimeout(clusterGone))
		Eventually(ctx, began.said).WithTimeout(2 * clusterUp).Should(gbytes.Say(`Installing provider="bootstrap-kubeadm"`))
		Expect(began.interrupt(ctx)).To(Equal(exitInterrupted))
		Expect(began.said).To(gbytes.Say("Continue with: .* --resume --keep"))

		said := output(quickstart("--resume", "--detach", "--kubernetes-version="+currentVersion, "--timeout="+clusterUp.String()))
		Expect(said).To(And(ContainSubstring(`Installing provider="runtime-extension-foo"`), Not(ContainSubstring(`Installing provider="cluster-api"`))))
		m := &management{state: state, bridge: quickstartBridge, env: readEnv(filepath.Join(state, "env"))}
		m.hosted().deploymentsAvailable(ctx)

		expectOneLine(end(quickstart("--management")), exitInvalid, "another quickstart is running on it")

		By("ending it as a machine does that shuts down")
		lock, err := os.ReadFile(filepath.Join(state, "lock"))
		Expect(err).NotTo(HaveOccurred())
		pid, err := strconv.Atoi(strings.TrimSpace(string(lock)))
		Expect(err).NotTo(HaveOccurred())
		Expect(syscall.Kill(pid, syscall.SIGTERM)).To(Succeed())
		Eventually(func() string { return end(command(ctx, "foo", "get", "clusters", "--state-dir="+state)).stderr }).
			WithContext(ctx).WithTimeout(clusterGone).Should(ContainSubstring("start it with: foo quickstart --resume"))
		Expect(machinesOf(state)).NotTo(BeEmpty())

		By("continuing with it")
		output(quickstart("--resume", "--detach", "--kubernetes-version="+currentVersion, "--timeout="+clusterUp.String()))
		m.hosted().deploymentsAvailable(ctx)

		By("stopping and deleting it")
		output(command(ctx, "foo", "stop", "--state-dir="+state))
		Expect(machinesOf(state)).NotTo(BeEmpty())
		output(command(ctx, "foo", "quickstart", "delete", "--state-dir="+state))
		Expect(leftovers(state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "the bridge is left")
		Expect(state).NotTo(BeAnExistingFile(), "the state folder is left")
	}, NodeTimeout(6*clusterUp))
})
