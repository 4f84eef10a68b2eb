//go:build e2e

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

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var _ = Describe("A cluster from the template", Ordered, Label("smoke"), func() {
	const namespace = "smoke"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, shape{controlPlanes: 1, workers: 3, version: currentVersion})
	}, NodeTimeout(clusterUp))

	It("comes up with its control plane and its pool of workers", Label(
		"contract:infra-cluster.control-plane-endpoint", "contract:infra-cluster.failure-domains", "contract:infra-cluster.initialization-completed",
		"contract:control-plane.initialization-completed", "contract:control-plane.kubeconfig", "contract:control-plane.certificates",
		"contract:control-plane.version", "contract:control-plane.machines", "contract:control-plane.endpoint",
		"contract:infra-machine.initialization-completed", "contract:infra-machinepool.initialization-completed",
	), func(ctx SpecContext) {
		c.available(ctx)
		nodes := c.nodesReady(ctx, 1, 3)
		for _, node := range nodes {
			info := node.Status.NodeInfo
			Expect(info.KubeletVersion).To(Equal(currentVersion))
			Expect(info.ContainerRuntimeVersion).To(HavePrefix("foo-process://"), "the Node must say that it has no real containers")
			Expect(node.Status.Capacity.Cpu().Value()).To(BeEquivalentTo(2), "the kubelet reports the instance type, not the host")
			Expect(node.Status.Capacity.Memory().String()).To(Equal("2Gi"))
		}
		var now clusterv1.Cluster
		Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		Expect(now.Status.FailureDomains).NotTo(BeEmpty())
		Expect(c.on(ctx, "cluster-info")).To(ContainSubstring("https://" + now.Spec.ControlPlaneEndpoint.String()))
		c.controlPlaneReady(ctx, 1)
	}, NodeTimeout(2*clusterUp))

	It("joins instances, Nodes and Machines by their provider IDs", Label(
		"contract:infra-machine.provider-id", "contract:infra-machine.addresses", "contract:infra-machine.failure-domain",
		"contract:infra-machinepool.providerIDList", "contract:infra-machinepool.machine-pool-machines", "contract:infra-machinepool.replicas",
	), func(ctx SpecContext) {
		nodes := c.nodesReady(ctx, 1, 3)
		instances := foocloud[[]instance](ctx, c.management, "instances")
		Expect(providerIDsOf(nodes)).To(ConsistOf(providerIDsOfInstances(instances)))
		for _, machine := range c.fooMachines(Default, ctx) {
			index := slices.IndexFunc(instances, func(i instance) bool { return i.ProviderID == machine.Spec.ProviderID })
			Expect(index).To(BeNumerically(">=", 0), "FooMachine %s has the provider ID %q of no instance", machine.Name, machine.Spec.ProviderID)
			Expect(machine.Status.FailureDomain).To(Equal(instances[index].Zone))
			Expect(machine.Status.Addresses).To(ContainElement(MatchFields(IgnoreExtras, Fields{"Type": Equal(clusterv1.MachineInternalIP)})))
			expectCondition(Default, machine.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionTrue)
		}
		c.poolHas(ctx, workersOf(nodes))
	}, NodeTimeout(clusterUp))

	It("is described by clusterctl", Label("contract:control-plane.clusterctl", "contract:infra-cluster.clusterctl",
		"contract:infra-machine.clusterctl", "contract:infra-machinepool.clusterctl"), func(ctx SpecContext) {
		tree := output(command(ctx, "tools/clusterctl", "describe", "cluster", c.key.Name, "--namespace="+namespace,
			"--kubeconfig="+c.management.kubeconfig, "--show-conditions=all", "--grouping=false"))
		for _, kind := range []string{"FooCluster", "FooControlPlane", "Machine", "MachinePool"} {
			Expect(tree).To(ContainSubstring(kind + " " + namespace + "/"))
		}
	}, NodeTimeout(soon))

	It("runs a Deployment, and says that its containers are simulated", func(ctx SpecContext) {
		c.on(ctx, "create", "deployment", "hello", "--image=registry.example/hello:1", "--replicas=10")
		c.deploymentReady(ctx, "hello", 10)
		Expect(c.on(ctx, "logs", "deployment/hello")).To(ContainSubstring("simulated"))
	}, NodeTimeout(clusterUp))

	It("resizes a Pod in place", func(ctx SpecContext) {
		resources := func(cpu, memory string) string {
			return fmt.Sprintf(`{"spec":{"containers":[{"name":"resized","image":"registry.example/hello:1","resources":{`+
				`"requests":{"cpu":"10m","memory":"16Mi"},"limits":{"cpu":%q,"memory":%q}}}]}}`, cpu, memory)
		}
		c.on(ctx, "run", "resized", "--image=registry.example/hello:1", "--overrides="+resources("50m", "64Mi"))
		c.on(ctx, "wait", "pod", "resized", "--for=condition=Ready", "--timeout=60s")
		for _, limits := range [][]string{{"100m", "128Mi"}, {"50m", "64Mi"}} {
			c.on(ctx, "patch", "pod", "resized", "--subresource=resize", "--patch="+resources(limits[0], limits[1]))
			Eventually(func() []string {
				return strings.Fields(c.on(ctx, "get", "pod", "resized", "--output=jsonpath={.status.containerStatuses[0].resources.limits['cpu','memory']} "+
					"{.status.containerStatuses[0].restartCount} {.status.conditions[?(@.type=='PodResizeInProgress')].status}"))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Equal(append(limits, "0")), "the kubelet does not do it")
		}
		c.on(ctx, "delete", "pod", "resized")
	}, NodeTimeout(2*clusterUp))

	It("runs the control plane as real processes, with logs, exec and port-forward", func(ctx SpecContext) {
		nodes := c.nodesReady(ctx, 1, 3)
		name := controlPlanesOf(nodes)[0].Name
		Expect(c.on(ctx, "logs", "--namespace=kube-system", "kube-apiserver-"+name)).To(ContainSubstring("Serving securely"))
		hosts := c.on(ctx, "exec", "--namespace=kube-system", "etcd-"+name, "--", "cat", "/etc/hosts")
		Expect(hosts).To(ContainSubstring(name), "exec runs a command inside of the instance")
		piped := command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "exec", "--stdin", "--namespace=kube-system", "etcd-"+name, "--", "sh", "-c", "cat; exit 3")
		piped.Stdin = strings.NewReader("through and back")
		ended := end(piped)
		Expect(ended.stdout).To(Equal("through and back"), ended.stderr)
		Expect(ended.code).To(Equal(3), "kubectl exec must end with the exit code of the command")
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(name))
	}, NodeTimeout(clusterUp))

	It("grows its pool to 5", Label("contract:infra-machinepool.providerIDList", "contract:infra-machinepool.replicas"), func(ctx SpecContext) {
		c.scaleWorkers(ctx, 5)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, 5)))
	}, NodeTimeout(2*clusterUp))

	It("shrinks its pool to 2 after draining, and the Nodes go", Label(
		"contract:infra-machinepool.providerIDList", "contract:infra-machinepool.replicas", "contract:infra-machinepool.machine-pool-machines",
	), func(ctx SpecContext) {
		before := workersOf(c.nodesReady(ctx, 1, 5))
		c.on(ctx, "rollout", "restart", "deployment/hello") // some Pods are on the new Nodes now
		c.deploymentReady(ctx, "hello", 10)
		evicted := c.evictions(ctx)
		c.scaleWorkers(ctx, 2)
		after := workersOf(c.nodesReady(ctx, 1, 2))
		c.poolHas(ctx, after)
		Expect(providerIDsOf(before)).To(ContainElements(providerIDsOf(after)), "the Nodes that stay are some that were there")
		Expect(evicted()).NotTo(BeEmpty(), "no Pod was evicted, so no Node was drained")
		Expect(foocloud[[]instance](ctx, c.management, "instances")).To(HaveLen(3))
		c.deploymentReady(ctx, "hello", 10)
	}, NodeTimeout(2*clusterUp))

	It("grows its control plane to 3, with 3 healthy etcd members", Label("contract:control-plane.replicas", "contract:control-plane.machine-placement"), func(ctx SpecContext) {
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

	It("leaves nothing when it is deleted", func(ctx SpecContext) {
		c.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", c.key.Name)
		Expect(c.gone(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.key.Name}})(Default, ctx)).To(BeTrue())
		By("looking into the management cluster")
		Eventually(func(g Gomega) {
			g.Expect(c.kubectl(ctx, "--namespace="+namespace, "get", kinds+",secrets,foomachinetemplates", "--output=name")).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed(), "objects of the cluster stay")
		By("looking into foocloud")
		Expect(foocloud[[]instance](ctx, c.management, "instances")).To(BeEmpty())
		Expect(foocloud[[]named](ctx, c.management, "pools")).To(BeEmpty())
		Expect(foocloud[[]named](ctx, c.management, "load-balancers")).To(BeEmpty())
		Expect(foocloud[quota](ctx, c.management, "quota")).To(BeZero(), "quota is still used")
		By("looking at the host")
		Expect(machinesOf(c.state, suiteBridge)).To(BeEmpty())
	}, NodeTimeout(clusterGone+soon))
})

// poolHas waits until the FooMachinePool knows exactly the instances of these Nodes.
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

// evictions watches the Pods from now on and returns a function that stops that and returns those that were evicted.
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
