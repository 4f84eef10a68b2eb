//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

var _ = Describe("A cluster from the template", Ordered, Label("smoke"), func() {
	const namespace = "smoke"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, shape{controlPlanes: 1, workers: 3, version: currentVersion})
	}, NodeTimeout(clusterUp))

	It("comes up with its control plane and its pool of workers", func(ctx SpecContext) {
		c.available(ctx)
		nodes := c.nodesReady(ctx, 1, 3)
		for _, node := range nodes {
			info := node.Status.NodeInfo
			Expect(info.KubeletVersion).To(Equal(currentVersion))
			Expect(info.ContainerRuntimeVersion).To(Equal("containerd://2.4.2"))
			Expect(node.Status.Capacity.Cpu().Value()).To(BeEquivalentTo(2), "the kubelet reports the instance type, not the host")
			Expect(node.Status.Capacity.Memory().String()).To(Equal("2Gi"))
		}
		var now clusterv1.Cluster
		Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		Expect(now.Status.FailureDomains).NotTo(BeEmpty())
		Expect(c.on(ctx, "cluster-info")).To(ContainSubstring("https://" + now.Spec.ControlPlaneEndpoint.String()))
		c.controlPlaneReady(ctx, 1)
	}, NodeTimeout(2*clusterUp))

	It("joins instances, Nodes and Machines by their provider IDs", func(ctx SpecContext) {
		nodes := c.nodesReady(ctx, 1, 3)
		c.poolHas(ctx, workersOf(nodes))
		instances := foocloud[[]instance](ctx, c.management, "instances")
		Expect(providerIDsOf(nodes)).To(ConsistOf(providerIDsOfInstances(instances)))
		for _, machine := range c.fooMachines(Default, ctx) {
			index := slices.IndexFunc(instances, func(i instance) bool { return i.ProviderID == machine.Spec.ProviderID })
			Expect(index).To(BeNumerically(">=", 0), "FooMachine %s has the provider ID %q of no instance", machine.Name, machine.Spec.ProviderID)
			Expect(machine.Status.FailureDomain).To(Equal(instances[index].Zone))
			Expect(machine.Status.Addresses).To(ContainElement(MatchFields(IgnoreExtras, Fields{"Type": Equal(clusterv1.MachineInternalIP)})))
			expectCondition(Default, machine.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionTrue)
		}
	}, NodeTimeout(clusterUp))

	It("is described by clusterctl", func(ctx SpecContext) {
		tree := output(command(ctx, "tools/clusterctl", "describe", "cluster", c.key.Name, "--namespace="+namespace,
			"--kubeconfig="+c.management.kubeconfig, "--show-conditions=all", "--grouping=false"))
		for _, kind := range []string{"FooCluster", "FooControlPlane", "Machine", "MachinePool"} {
			Expect(tree).To(ContainSubstring(kind + " " + namespace + "/"))
		}
	}, NodeTimeout(soon))

	It("runs the containers of a Deployment, with logs and exec", func(ctx SpecContext) {
		c.on(ctx, append([]string{"create", "deployment", "hello", "--image=" + shellImage, "--replicas=10", "--"}, hello...)...)
		c.deploymentReady(ctx, "hello", 10)
		// A container is running, and its Pod is ready, before it has printed anything.
		Eventually(func() string { return c.on(ctx, "logs", "deployment/hello") }).WithContext(ctx).Should(HavePrefix("hello from hello-"))
		pod := c.on(ctx, "get", "pods", "--selector=app=hello", "--output=jsonpath={.items[0].metadata.name}")
		Expect(c.on(ctx, "exec", pod, "--", "hostname")).To(Equal(pod+"\n"), "exec runs a command inside the Pod")
		piped := command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "exec", "--stdin", pod, "--", "sh", "-c", "cat; exit 3")
		piped.Stdin = strings.NewReader("through and back")
		ended := end(piped)
		Expect(ended.stdout).To(Equal("through and back"), ended.stderr)
		Expect(ended.code).To(Equal(3), "kubectl exec must end with the exit code of the command")
	}, NodeTimeout(clusterUp))

	It("has Services and DNS", func(ctx SpecContext) {
		c.hasServicesAndDNS(ctx, 3)
		c.hasNodePorts(ctx, 3)
	}, NodeTimeout(2*clusterUp))

	It("resizes a Pod in place", func(ctx SpecContext) {
		resources := func(cpu, memory string) corev1.ResourceRequirements {
			return corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
			}
		}
		pod := c.runPod(ctx, "resized", "", corev1.Container{Image: shellImage, Command: hello, Resources: resources("50m", "64Mi")})
		c.podReady(ctx, pod)
		for _, limits := range [][]string{{"100m", "128Mi"}, {"50m", "64Mi"}} {
			wanted := resources(limits[0], limits[1])
			container := map[string]any{"name": pod.Name, "resources": wanted}
			patch, err := json.Marshal(map[string]any{"spec": map[string]any{"containers": []any{container}}})
			Expect(err).NotTo(HaveOccurred())
			c.on(ctx, "patch", "pod", pod.Name, "--subresource=resize", "--patch="+string(patch))
			Eventually(func() []string {
				return strings.Fields(c.on(ctx, "get", "pod", pod.Name, "--output=jsonpath="+
					"{.status.containerStatuses[0].resources.limits['cpu','memory']} {.status.containerStatuses[0].restartCount} "+
					"{.status.conditions[?(@.type=='PodResizeInProgress')].status}"))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Equal(append(limits, "0")), "the kubelet does not do it")
			Expect(c.on(ctx, "exec", pod.Name, "--", "sh", "-c", "cat "+memoryLimit+" 2>/dev/null || true")).
				To(Equal(fmt.Sprintln(wanted.Limits.Memory().Value())), "the limit of the container's cgroup")
		}
		c.on(ctx, "delete", "pod", pod.Name)
	}, NodeTimeout(2*clusterUp))

	It("kills a container that exceeds its memory limit, and nothing else", func(ctx SpecContext) {
		node := workersOf(c.nodesReady(ctx, 1, 3))[0]
		neighbour := c.podReady(ctx, c.runPod(ctx, "neighbour", node.Name, corev1.Container{Image: pauseImage}))
		greedy := c.runPod(ctx, "greedy", node.Name, corev1.Container{
			// It reads a whole line into memory, and the line never ends.
			Image: shellImage, Command: []string{"tail", "/dev/zero"},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
		})
		Eventually(func(g Gomega) {
			g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(greedy), greedy)).To(Succeed())
			g.Expect(greedy.Status.ContainerStatuses).To(HaveLen(1))
			g.Expect(greedy.Status.ContainerStatuses[0].State.Terminated).To(HaveValue(MatchFields(IgnoreExtras,
				Fields{"Reason": Equal("OOMKilled"), "ExitCode": BeEquivalentTo(137)})))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		now := c.podReady(ctx, neighbour)
		Expect(now.Status.ContainerStatuses).To(Equal(neighbour.Status.ContainerStatuses), "the neighbour was touched")
		Expect(podReadiness(now)).To(Equal(podReadiness(neighbour)), "the neighbour was not Ready meanwhile")
		left := workersOf(c.nodesReady(ctx, 1, 3))
		index := slices.IndexFunc(left, func(one corev1.Node) bool { return one.Name == node.Name })
		Expect(index).To(BeNumerically(">=", 0))
		Expect(readySince(left[index])).To(Equal(readySince(node)), "the Node was not Ready meanwhile")
		c.on(ctx, "delete", "pod", "greedy", "neighbour")
	}, NodeTimeout(2*clusterUp))

	It("runs the control plane in containers, with logs, exec and port-forward", func(ctx SpecContext) {
		nodes := c.nodesReady(ctx, 1, 3)
		name := controlPlanesOf(nodes)[0].Name
		Expect(c.on(ctx, "logs", "--namespace=kube-system", "kube-apiserver-"+name)).To(ContainSubstring("Serving securely"))
		const pki = "/etc/kubernetes/pki/etcd/"
		Expect(c.on(ctx, "exec", "--namespace=kube-system", "etcd-"+name, "--", "etcdctl", "--cacert="+pki+"ca.crt", "--cert="+pki+"server.crt",
			"--key="+pki+"server.key", "endpoint", "health")).To(ContainSubstring("is healthy"), "exec runs a program of the image inside the container")
		proxy := c.on(ctx, "get", "pods", "--namespace=kube-system", "--selector=k8s-app=kube-proxy", "--field-selector=spec.nodeName="+name,
			"--output=jsonpath={.items[0].metadata.name}")
		hosts := c.on(ctx, "exec", "--namespace=kube-system", proxy, "--", "cat", "/etc/hosts")
		Expect(hosts).To(ContainSubstring(name), "a Pod with the network of its Node is inside the instance")
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(name))
	}, NodeTimeout(clusterUp))

	It("grows its pool to 5", func(ctx SpecContext) {
		c.scaleWorkers(ctx, 5)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, 5)))
	}, NodeTimeout(2*clusterUp))

	It("shrinks its pool to 2 after draining, and removes the Nodes", func(ctx SpecContext) {
		before := workersOf(c.nodesReady(ctx, 1, 5))
		c.on(ctx, "rollout", "restart", "deployment/hello") // some Pods are on the new Nodes now
		c.deploymentReady(ctx, "hello", 10)
		evicted := c.evictions(ctx)
		c.scaleWorkers(ctx, 2)
		after := workersOf(c.nodesReady(ctx, 1, 2))
		c.poolHas(ctx, after)
		Expect(providerIDsOf(before)).To(ContainElements(providerIDsOf(after)), "the remaining Nodes existed before")
		Expect(evicted()).NotTo(BeEmpty(), "no Pod was evicted, so no Node was drained")
		Expect(foocloud[[]instance](ctx, c.management, "instances")).To(HaveLen(3))
		c.deploymentReady(ctx, "hello", 10)
	}, NodeTimeout(2*clusterUp))

	It("replaces its control plane Machine on request", func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		c.rolloutNow(ctx)
		c.replaced(ctx, before)
		nodes := c.nodesReady(ctx, 1, 2)
		c.controlPlaneReady(ctx, 1)
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(namesOf(controlPlanesOf(nodes))))
		c.deploymentReady(ctx, "hello", 10)
	}, NodeTimeout(rolledOut))

	It("grows its control plane to 3, with 3 healthy etcd members", func(ctx SpecContext) {
		c.scaleControlPlane(ctx, 3)
		nodes := c.nodesReady(ctx, 3, 2)
		c.controlPlaneReady(ctx, 3)
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(namesOf(controlPlanesOf(nodes))))
		zones := sets.New[string]()
		for _, machine := range c.fooMachines(Default, ctx) {
			if _, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]; controlPlane {
				zones.Insert(machine.Status.FailureDomain)
			}
		}
		Expect(zones).To(HaveLen(3), "the control plane is spread over the zones")
	}, NodeTimeout(2*clusterUp))

	It("leaves nothing behind when it is deleted", func(ctx SpecContext) {
		instances := foocloud[[]instance](ctx, c.management, "instances")
		c.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", c.key.Name)
		Expect(c.gone(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.key.Name}})(Default, ctx)).To(BeTrue())
		By("checking the management cluster")
		Eventually(func(g Gomega) {
			g.Expect(c.kubectl(ctx, "--namespace="+namespace, "get", kinds("secrets", "foomachinetemplates"), "--output=name")).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed(), "objects of the cluster are left")
		By("checking foocloud")
		Expect(foocloud[[]instance](ctx, c.management, "instances")).To(BeEmpty())
		Expect(foocloud[[]named](ctx, c.management, "pools")).To(BeEmpty())
		Expect(foocloud[[]named](ctx, c.management, "load-balancers")).To(BeEmpty())
		Expect(foocloud[quota](ctx, c.management, "quota")).To(BeZero(), "quota is still used")
		By("checking the host")
		Expect(machinesOf(c.state)).To(BeEmpty())
		for _, one := range instances {
			Expect(cgroupsOf(one.ID)).To(BeEmpty(), "cgroups of instance %s are left", one.ID)
		}
	}, NodeTimeout(clusterGone+soon))
})

// poolHas waits until the FooMachinePool lists exactly the instances of these Nodes.
func (c *cluster) poolHas(ctx context.Context, nodes []corev1.Node) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pool := c.pool(g, ctx)
		g.Expect(pool.Spec.ProviderIDList).To(ConsistOf(providerIDsOf(nodes)), "spec.providerIDList")
		g.Expect(pool.Status.Replicas).To(HaveValue(BeEquivalentTo(len(nodes))), "status.replicas")
		g.Expect(pool.Status.Initialization.Provisioned).To(HaveValue(BeTrue()), "status.initialization.provisioned")
		expectCondition(g, pool.Status.Conditions, infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue)
		var machines clusterv1.MachineList
		g.Expect(c.List(ctx, &machines, client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.MachinePoolNameLabel: pool.Name})).To(Succeed())
		g.Expect(machines.Items).To(HaveLen(len(nodes)), "MachinePool Machines")
		var owner clusterv1.MachinePool
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(pool), &owner)).To(Succeed())
		g.Expect(ptr.Deref(owner.Status.ReadyReplicas, 0)).To(BeEquivalentTo(len(nodes)), "status.readyReplicas of the MachinePool")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}

func (c *cluster) deploymentReady(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var deployment appsv1.Deployment
		g.Expect(c.workload.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &deployment)).To(Succeed())
		g.Expect(deployment.Status.ObservedGeneration).To(Equal(deployment.Generation))
		g.Expect(deployment.Status.ReadyReplicas).To(Equal(replicas), "ready Pods")
		g.Expect(deployment.Status.UpdatedReplicas).To(Equal(replicas), "Pods of the current template")
		g.Expect(deployment.Status.Replicas).To(Equal(replicas), "Pods")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "Deployment %s does not get its Pods", name)
}

// evictions watches Pods. The returned function stops the watch and returns the evicted Pods.
func (c *cluster) evictions(ctx context.Context) func() []string {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.Proxy = noProxy
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods(metav1.NamespaceDefault)
	list, err := pods.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	watcher, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	evicted := sets.New[string]()
	var group sync.WaitGroup
	group.Go(func() {
		for event := range watcher.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && isEvicted(pod) {
				evicted.Insert(pod.Name)
			}
		}
	})
	return func() []string {
		watcher.Stop()
		group.Wait()
		return sets.List(evicted)
	}
}

func isEvicted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.DisruptionTarget && condition.Reason == "EvictionByEvictionAPI"
	})
}

func controlPlanesOf(nodes []corev1.Node) []corev1.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(node corev1.Node) bool { return !isControlPlane(node) })
}

func workersOf(nodes []corev1.Node) []corev1.Node {
	return slices.DeleteFunc(slices.Clone(nodes), isControlPlane)
}

func isControlPlane(node corev1.Node) bool {
	_, ok := node.Labels[controlPlaneRole]
	return ok
}

func namesOf(nodes []corev1.Node) []string {
	names := make([]string, 0, len(nodes))
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	return names
}

func providerIDsOf(nodes []corev1.Node) []string {
	ids := make([]string, 0, len(nodes))
	for _, node := range nodes {
		ids = append(ids, node.Spec.ProviderID)
	}
	return ids
}

func providerIDsOfInstances(instances []instance) []string {
	ids := make([]string, 0, len(instances))
	for _, one := range instances {
		ids = append(ids, one.ProviderID)
	}
	return ids
}
