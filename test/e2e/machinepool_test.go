//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

const (
	// webPods is the number of Pods of the load; at least minWebPods must be ready at any time.
	webPods, minWebPods = 6, 5
	// listLag is how long the list of provider IDs may differ from the cloud: the time of a few
	// reconciles on a machine with a tenth of its processors.
	listLag = 30 * time.Second
)

var _ = Describe("A pool under load", Ordered, Label("machinepool", "slow", needsAllVersions), func() {
	const namespace = "pool"
	var c *cluster
	var w *watchers

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"},
			shape{controlPlanes: 1, workers: 3, version: currentVersion}, poolVersion(previousVersion))
		c.available(ctx)
		c.nodesReady(ctx, 1, 3)
		c.on(ctx, "create", "deployment", "web", "--image="+pauseImage, fmt.Sprintf("--replicas=%d", webPods))
		c.deploymentReady(ctx, "web", webPods)
		c.on(ctx, "create", "poddisruptionbudget", "web", "--selector=app=web", fmt.Sprintf("--min-available=%d", minWebPods))
		w = c.watch()
	}, NodeTimeout(3*clusterUp))

	AfterEach(func() { Expect(w.problems()).To(BeEmpty()) })

	It("grows to 6 and shrinks to 2", func(ctx SpecContext) {
		c.scaleWorkers(ctx, 6)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, 6)))
		c.on(ctx, "rollout", "restart", "deployment/web")
		c.deploymentReady(ctx, "web", webPods)
		c.scaleWorkers(ctx, 2)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, 2)))
		c.deploymentReady(ctx, "web", webPods)
		Expect(w.removed()).To(BeNumerically(">=", 4))
	}, NodeTimeout(4*clusterUp))

	It("rolls out a version with one more Node and never fewer", func(ctx SpecContext) {
		w.expectWorkers(2)
		revision := c.pool(Default, ctx).Status.Revision
		c.kubectl(ctx, "--namespace="+namespace, "patch", "machinepool", "one-workers", "--type=merge",
			`--patch={"spec":{"template":{"spec":{"version":"`+currentVersion+`"}}}}`)
		c.poolRolled(ctx, revision, 2)
		for _, one := range c.pool(Default, ctx).Status.Instances {
			Expect(one.Version).To(Equal(currentVersion))
		}
		nodes := workersOf(c.nodesReady(ctx, 1, 2))
		for _, node := range nodes {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(currentVersion))
		}
		c.poolHas(ctx, nodes)
		c.deploymentReady(ctx, "web", webPods)
		w.expectWorkers(0)
	}, NodeTimeout(3*clusterUp))

	It("follows the cluster autoscaler, from 0 to 3 and to 0", func(ctx SpecContext) {
		w.stop()
		c.on(ctx, "delete", "poddisruptionbudget,deployment", "web")
		c.kubectl(ctx, "--namespace="+namespace, "annotate", "machinepool", "one-workers",
			"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size=0", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size=3")
		c.scaleWorkers(ctx, 0)
		c.nodesReady(ctx, 1, 0)
		Eventually(func(g Gomega) {
			pool := c.pool(g, ctx)
			g.Expect(pool.Spec.ProviderIDList).To(BeEmpty())
			g.Expect(pool.Status.Capacity.Cpu().Value()).To(BeEquivalentTo(2), "what the autoscaler needs to know about a future Node")
			g.Expect(pool.Status.NodeInfo.OperatingSystem).To(Equal("linux"))
			g.Expect(pool.Status.NodeInfo.Architecture).NotTo(BeEmpty())
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())

		c.scaleWorkers(ctx, 3)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, 3)))
		for left := 2; left >= 0; left-- {
			var machines clusterv1.MachineList
			Expect(c.List(ctx, &machines, client.InNamespace(namespace), client.HasLabels{clusterv1.MachinePoolNameLabel})).To(Succeed())
			// The newest, which the pool itself would keep longest.
			victim := slices.MaxFunc(machines.Items, func(a, b clusterv1.Machine) int {
				return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
			})
			c.kubectl(ctx, "--namespace="+namespace, "annotate", "machine", victim.Name, clusterv1.DeleteMachineAnnotation+"="+time.Now().Format(time.RFC3339))
			c.scaleWorkers(ctx, left)
			nodes := workersOf(c.nodesReady(ctx, 1, left))
			Expect(namesOf(nodes)).NotTo(ContainElement(victim.Name))
			Eventually(c.gone(&victim)).WithContext(ctx).WithTimeout(clusterUp).Should(BeTrue(), "the Machine of the Node is not gone")
		}
		Eventually(func(g Gomega) {
			g.Expect(c.pool(g, ctx).Spec.ProviderIDList).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
	}, NodeTimeout(6*clusterUp))

	It("follows the size that something else sets for the pool in the cloud", func(ctx SpecContext) {
		c.kubectl(ctx, "--namespace="+namespace, "annotate", "machinepool", "one-workers", clusterv1.ReplicasManagedByAnnotation+"=cloud")
		By("setting it again like an autoscaler: a controller that has not seen the annotation yet reverts the size")
		Eventually(func(g Gomega) {
			c.resizePool(g, ctx, 2)
			c.machinePoolReplicas(g, ctx, 2)
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		nodes := workersOf(c.nodesReady(ctx, 1, 2))
		c.poolHas(ctx, nodes)
		By("removing an instance like an autoscaler of the cloud, without telling Cluster API")
		c.withoutDNSPods(ctx)
		c.deleteInstance(ctx, path.Base(nodes[0].Spec.ProviderID))
		c.machinePoolWants(ctx, 1)
		left := workersOf(c.nodesReady(ctx, 1, 1))
		Expect(namesOf(left)).To(ConsistOf(nodes[1].Name))
		c.poolHas(ctx, left)
	}, NodeTimeout(3*clusterUp))

	AfterAll(func(ctx SpecContext) {
		if w != nil {
			w.stop()
		}
		c.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", c.key.Name)
	}, NodeTimeout(clusterGone+soon))
})

// poolRolled waits until the pool has the desired number of instances, all with a new revision.
func (c *cluster) poolRolled(ctx context.Context, before string, replicas int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pool := c.pool(g, ctx)
		g.Expect(pool.Status.Revision).NotTo(Equal(before))
		g.Expect(pool.Status.UpdatedReplicas).To(HaveValue(Equal(replicas)))
		g.Expect(pool.Status.Replicas).To(HaveValue(Equal(replicas)))
		expectCondition(g, pool.Status.Conditions, infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionFalse)
	}).WithContext(ctx).WithTimeout(2 * clusterUp).Should(Succeed())
}

// resizePool changes the size of the pool like an autoscaler of the cloud.
func (c *cluster) resizePool(g Gomega, ctx context.Context, size int) {
	route := "/v1/pools/" + c.key.Namespace + "." + c.key.Name + "-workers"
	var pool struct {
		Version string `json:"version"`
	}
	g.Expect(json.Unmarshal(c.askCloud(g, ctx, http.MethodGet, route, nil), &pool)).To(Succeed())
	c.askCloud(g, ctx, http.MethodPut, route+"/size?version="+pool.Version, fmt.Appendf(nil, `{"size": %d}`, size))
}

// machinePoolWants waits until the MachinePool has this number of replicas.
func (c *cluster) machinePoolWants(ctx context.Context, replicas int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c.machinePoolReplicas(g, ctx, replicas)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the MachinePool does not follow its pool")
}

func (c *cluster) machinePoolReplicas(g Gomega, ctx context.Context, replicas int32) {
	var machinePool clusterv1.MachinePool
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-workers"}, &machinePool)).To(Succeed())
	g.Expect(machinePool.Spec.Replicas).To(HaveValue(Equal(replicas)))
}

// poolVersion gives the pool a different version than the control plane in the template.
func poolVersion(version string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		GinkgoHelper()
		if object.GetKind() == "MachinePool" {
			Expect(unstructured.SetNestedField(object.Object, version, "spec", "template", "spec", "version")).To(Succeed())
		}
	}
}

// watchers watch a cluster continuously and record violations.
type watchers struct {
	cluster *cluster
	end     context.CancelFunc
	group   sync.WaitGroup

	lock     sync.Mutex
	found    []string
	ready    sets.Set[string]            // Pods of the load
	on       map[string]sets.Set[string] // Pods of the load on each Node
	cordoned sets.Set[string]            // Nodes that were cordoned at any time
	usable   sets.Set[string]            // worker Nodes that are Ready and not cordoned
	least    int                         // worker Nodes that must be usable
	gone     int
}

// watch starts the watchers. All Pods of the load must be ready.
func (c *cluster) watch() *watchers {
	GinkgoHelper()
	ctx, end := context.WithCancel(context.Background())
	w := &watchers{
		cluster: c, end: end, ready: sets.New[string](), on: map[string]sets.Set[string]{},
		cordoned: sets.New[string](), usable: sets.New[string](),
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.Proxy = noProxy
	api := kubernetes.NewForConfigOrDie(config).CoreV1()
	pods, err := api.Pods(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	Expect(err).NotTo(HaveOccurred())
	nodes, err := api.Nodes().Watch(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	w.group.Go(func() { each(pods, w.pod) })
	w.group.Go(func() { each(nodes, w.node) })
	w.group.Go(func() { w.lists(ctx) })
	return w
}

func each[T any](from watch.Interface, do func(kind watch.EventType, object T)) {
	for event := range from.ResultChan() {
		if object, ok := event.Object.(T); ok {
			do(event.Type, object)
		}
	}
}

func (w *watchers) stop() {
	w.end()
	w.group.Wait()
}

func (w *watchers) problems() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return slices.Clone(w.found)
}

func (w *watchers) removed() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.gone
}

// seen returns how many worker Nodes are usable.
func (w *watchers) seen() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.usable.Len()
}

func (w *watchers) expectWorkers(least int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.least = least
}

// wrong records a violation. Callers hold the lock.
func (w *watchers) wrong(format string, values ...any) {
	w.found = append(w.found, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, values...))
}

// pod checks the disruption budget. A Pod that is being deleted no longer counts as ready.
func (w *watchers) pod(kind watch.EventType, pod *corev1.Pod) {
	w.lock.Lock()
	defer w.lock.Unlock()
	before := w.ready.Len()
	ready := kind != watch.Deleted && pod.DeletionTimestamp.IsZero() && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if ready {
		w.ready.Insert(pod.Name)
	} else {
		w.ready.Delete(pod.Name)
	}
	if w.ready.Len() < before && w.ready.Len() < minWebPods && isEvicted(pod) {
		w.wrong("an eviction left %d Pods ready, at least %d must be", w.ready.Len(), minWebPods)
	}
	if w.on[pod.Spec.NodeName] == nil {
		w.on[pod.Spec.NodeName] = sets.New[string]()
	}
	if kind == watch.Deleted {
		w.on[pod.Spec.NodeName].Delete(pod.Name)
	} else {
		w.on[pod.Spec.NodeName].Insert(pod.Name)
	}
}

// node checks how Nodes are removed.
func (w *watchers) node(kind watch.EventType, node *corev1.Node) {
	if isControlPlane(*node) {
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if node.Spec.Unschedulable {
		w.cordoned.Insert(node.Name)
	}
	if kind != watch.Deleted && nodeReady(*node) && !node.Spec.Unschedulable {
		w.usable.Insert(node.Name)
	} else {
		w.usable.Delete(node.Name)
	}
	if w.usable.Len() < w.least {
		w.wrong("%d worker Nodes are usable, at least %d must be; the last change was of %s", w.usable.Len(), w.least, node.Name)
	}
	if kind != watch.Deleted {
		return
	}
	w.gone++
	if !w.cordoned.Has(node.Name) {
		w.wrong("Node %s was removed without having been cordoned", node.Name)
	}
	if left := w.on[node.Name]; left.Len() > 0 {
		w.wrong("Node %s was removed with Pods %v", node.Name, sets.List(left))
	}
}

// lists continuously compares the list of provider IDs with the instances of the cloud.
func (w *watchers) lists(ctx context.Context) {
	defer GinkgoRecover()
	since := map[string]time.Time{}
	var before []string
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		listed := w.cluster.pool(Default, context.Background()).Spec.ProviderIDList
		there := sets.New[string]()
		for _, i := range foocloud[[]instance](context.Background(), w.cluster.management, "instances") {
			if strings.HasPrefix(i.Name, w.cluster.key.Namespace+"."+w.cluster.key.Name+"-workers-") {
				there.Insert(i.ProviderID)
			}
		}
		w.compare(before, listed, there, since)
		before = listed
	}
}

func (w *watchers) compare(before, listed []string, there sets.Set[string], since map[string]time.Time) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !slices.IsSorted(listed) {
		w.wrong("the list is not sorted: %v", listed)
	}
	for _, id := range sets.New(before...).Difference(sets.New(listed...)).UnsortedList() {
		if there.Has(id) {
			w.wrong("%s left the list although its instance exists", id)
		}
	}
	differing := sets.New(listed...).SymmetricDifference(there)
	for _, id := range differing.UnsortedList() {
		if since[id].IsZero() {
			since[id] = time.Now()
		}
		if time.Since(since[id]) > listLag {
			w.wrong("%s differs for too long: it is listed (%t), its instance exists (%t)", id, slices.Contains(listed, id), there.Has(id))
		}
	}
	for id := range since {
		if !differing.Has(id) {
			delete(since, id)
		}
	}
}
