//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/conformance"
	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const (
	nodeVersion = "v1.36.3"
	soon        = time.Minute
)

// offer is what the tenants of the tests can order.
const offer = `
instanceTypes:
- {name: small, cpus: 2, memory: 4Gi}
images:
- {kubernetesVersion: v1.36.3, image: "registry.example/node:v1.36.3"}
- {kubernetesVersion: v1.35.4, image: "registry.example/node:v1.35.4"}
- {kubernetesVersion: v1.36.3, name: gpu, image: "registry.example/gpu:v1.36.3"}
`

// outer is the cluster of all tests: a real API server, without controllers and kubelets.
var outer struct {
	*rest.Config
	client kubernetes.Interface
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	environment, err := envtestenv.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = environment.Stop() }()
	outer.Config = environment.Config
	outer.client, err = kubernetes.NewForConfig(unlimited(environment.Config))
	for _, zone := range []string{"zone-b", "zone-a"} {
		if err == nil {
			_, err = outer.client.CoreV1().Nodes().Create(context.Background(), outerNode(zone), metav1.CreateOptions{})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func unlimited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	return config
}

// tenantOf creates a namespace that is set up as a Foo cloud, with kubelets, and returns its name.
func tenantOf(t *testing.T, content string) string {
	t.Helper()
	namespace := tenantWithoutKubelets(t, content)
	startKubelets(t, outer.client, namespace)
	return namespace
}

func tenantWithoutKubelets(t *testing.T, content string) string {
	t.Helper()
	g := NewWithT(t)
	namespace, err := outer.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tenant-"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	configure(t, namespace.Name, content)
	return namespace.Name
}

func configure(t *testing.T, namespace, content string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigName}, Data: map[string]string{ConfigKey: content}}
	_ = outer.client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), ConfigName, metav1.DeleteOptions{})
	_, err := outer.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

// managed returns a cloud whose pools are filled while the test runs.
func managed(t *testing.T, namespace string) *Cloud {
	t.Helper()
	c, err := NewForConfig(outer.Config, namespace)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	c.Manage()
	t.Cleanup(c.Close)
	return c
}

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Options{
		New: func(t *testing.T) cloud.Cloud { return managed(t, tenantOf(t, offer)) }, Patience: soon,
		Lose: func(t *testing.T, c cloud.Cloud, instance cloud.Instance) {
			lose(t, c.(*Cloud).namespace, instance)
		},
		LosePool: losePool,
	})
}

// lose deletes the Pod of an instance without asking the cloud.
func lose(t *testing.T, namespace string, instance cloud.Instance) {
	t.Helper()
	err := outer.client.CoreV1().Pods(namespace).Delete(t.Context(), podOf(instance.ID), metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

// losePool deletes the Secret of a pool once it says that all members were created.
func losePool(t *testing.T, of cloud.Cloud, name string) {
	t.Helper()
	g, c := NewWithT(t), of.(*Cloud)
	g.Eventually(func() (bool, error) {
		p, err := c.readPool(t.Context(), name)
		return err == nil && p.full(), err
	}, soon).Should(BeTrue())
	g.Expect(outer.client.CoreV1().Secrets(c.namespace).Delete(t.Context(), poolObject(name), metav1.DeleteOptions{})).To(Succeed())
}

func template() cloud.InstanceTemplate {
	return cloud.InstanceTemplate{Type: "small", KubernetesVersion: nodeVersion, UserData: []byte("#cloud-config\n"), Tags: cloud.Tags{"cluster": "one"}}
}

func orderOf(name string) cloud.InstanceSpec {
	return cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: template()}
}

func poolOrder(size int32) cloud.PoolSpec {
	return cloud.PoolSpec{Name: "ns.pool", HostnamePrefix: "pool", Size: size, Revision: "1", Template: template()}
}

func TestPodOfAnInstance(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, strings.Replace(offer, "memory: 4Gi", `memory: 4Gi, disk: 20Gi, architecture: amd64, requests: {cpu: 500m, memory: 1Gi}`, 1)+`
pods: {tolerations: [{key: dedicated, operator: Exists}], nodeSelector: {pool: foo}, storageClassName: fast, hostUsers: false}
`)
	node := outerNode("zone-c")
	node.Labels["pool"], node.Labels[corev1.LabelArchStable] = "foo", "amd64"
	_, err := outer.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		_ = outer.client.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), "zone-c", metav1.DeleteOptions{})
	})
	c := managed(t, namespace)
	spec := orderOf("ns.one")
	spec.Zone = "zone-c"
	made, err := c.EnsureInstance(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())

	pod, err := c.pods().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pod.Name).To(HavePrefix("ns-one-"))
	g.Expect(pod.Spec.RestartPolicy).To(Equal(corev1.RestartPolicyNever))
	g.Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{"pool": "foo", zoneLabel: "zone-c", corev1.LabelArchStable: "amd64"}))
	g.Expect(pod.Spec.HostUsers).To(HaveValue(BeFalse()))
	g.Expect(*pod.Spec.AutomountServiceAccountToken).To(BeFalse(), "an instance has no rights in the outer cluster")
	main := pod.Spec.Containers[0]
	g.Expect(main.Image).To(Equal("registry.example/node:v1.36.3"))
	g.Expect(main.Resources.Limits.Cpu().String()).To(Equal("2"))
	g.Expect(main.Resources.Requests.Cpu().String()).To(Equal("500m"))
	g.Expect(pod.Spec.Volumes).To(ContainElement(HaveField("Ephemeral.VolumeClaimTemplate.Spec.StorageClassName", HaveValue(Equal("fast")))))

	secret, err := c.secrets().Get(t.Context(), pod.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(secret.Data).To(HaveKeyWithValue(userDataKey, []byte("#cloud-config\n")))
	g.Expect(secret.OwnerReferences).To(ConsistOf(HaveField("UID", pod.UID)), "the outer cluster deletes it with the Pod")
	for _, text := range pod.Annotations {
		g.Expect(text).NotTo(ContainSubstring("cloud-config"), "user data is in the Secret only")
	}
	g.Eventually(func() error { return c.DeleteInstance(t.Context(), made.ID) }, soon).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
	_, err = c.secrets().Get(t.Context(), pod.Name, metav1.GetOptions{})
	g.Expect(isGone(err)).To(BeTrue())
}

func TestBackendsAreProbed(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer))
	_, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "api", Port: 6443, TargetPort: 7443, Selector: template().Tags})
	g.Expect(err).NotTo(HaveOccurred())
	service := func() *corev1.Service {
		found, err := c.services().Get(t.Context(), serviceObject("api"), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return found
	}
	g.Expect(service().Spec.PublishNotReadyAddresses).To(BeTrue(), "the first backend is needed before it is ready")
	for _, name := range []string{"first", "second"} {
		made, err := c.EnsureInstance(t.Context(), orderOf(name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(func(g Gomega) {
			pod, err := c.pods().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pod.Spec.Containers[0].ReadinessProbe.HTTPGet.Port.IntValue()).To(Equal(7443))
			g.Expect(pod.Spec.Containers[0].Env).To(ContainElement(corev1.EnvVar{Name: contract.PortVariable, Value: "7443"}))
			g.Expect(pod.Spec.Volumes[0].Projected.Sources[1].DownwardAPI.Items).To(ContainElement(
				fileOf(contract.IdentityBalanced, "labels", backendLabel)), "the agent sees whether load balancers use it")
			g.Expect(isReady(*pod)).To(BeTrue())
			g.Expect(service().Spec.PublishNotReadyAddresses).To(BeFalse(), "another backend must not get connections before it is ready")
		}, soon).Should(Succeed())
	}

	other := orderOf("worker")
	other.Tags = cloud.Tags{"cluster": "two"}
	made, err := c.EnsureInstance(t.Context(), other)
	g.Expect(err).NotTo(HaveOccurred())
	pod, err := c.pods().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pod.Spec.Containers[0].ReadinessProbe).To(BeNil(), "no load balancer uses it")
}

func TestDrainOfANode(t *testing.T) {
	g := NewWithT(t)
	node := outerNode("zone-d")
	_, err := outer.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		_ = outer.client.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), "zone-d", metav1.DeleteOptions{})
	})
	c := managed(t, tenantOf(t, offer))
	ids := map[string]string{}
	for name, zone := range map[string]string{"leaves": "zone-d", "stays": "zone-a"} {
		spec := orderOf(name)
		spec.Zone = zone
		made, err := c.EnsureInstance(t.Context(), spec)
		g.Expect(err).NotTo(HaveOccurred())
		ids[name] = made.ID
		g.Eventually(func() (cloud.Instance, error) { return c.GetInstance(t.Context(), made.ID) }, soon).Should(HaveField("State", cloud.InstanceRunning))
	}
	_, err = outer.client.CoreV1().Nodes().Patch(t.Context(), "zone-d", types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (cloud.Instance, error) { return c.GetInstance(t.Context(), ids["leaves"]) }, soon).
		Should(And(HaveField("ReclaimAt", HaveValue(BeTemporally(">", time.Now()))), HaveField("State", cloud.InstanceRunning)))
	g.Expect(c.GetInstance(t.Context(), ids["stays"])).To(HaveField("ReclaimAt", BeNil()))
}

// An administrator may give the account the right to watch Nodes later.
func TestNodesThatMayBeWatchedLater(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer+"zones: [{name: zone-late}]\n")
	node := outerNode("zone-late")
	node.Spec.Unschedulable = true
	addNode(t, node)
	config := rest.CopyConfig(outer.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "tenant-of-" + namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: config.Impersonate.UserName}}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
	_, err := outer.client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "foo"}, RoleRef: role, Subjects: subjects,
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	c, err := NewForConfig(config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	c.askAgain = 100 * time.Millisecond
	g.Eventually(func() error { return c.Check(t.Context()) }, soon).Should(Succeed())
	made, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	c.Manage()
	t.Cleanup(c.Close)
	now := func() (cloud.Instance, error) { return c.GetInstance(t.Context(), made.ID) }
	g.Eventually(now, soon).Should(HaveField("State", cloud.InstanceRunning))
	g.Consistently(now, time.Second).Should(HaveField("ReclaimAt", BeNil()))

	role.Name = "foo-nodes:" + namespace
	_, err = outer.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list", "watch"}},
	}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = outer.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: role, Subjects: subjects,
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(now, soon).ShouldNot(HaveField("ReclaimAt", BeNil()))
}

// Several managers may believe that they are the leader.
func TestRacesCreateNothingTwice(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	clouds := []*Cloud{managed(t, namespace), managed(t, namespace), managed(t, namespace)}
	ids, group := sync.Map{}, sync.WaitGroup{}
	for _, c := range clouds {
		group.Go(func() {
			made, err := c.EnsureInstance(t.Context(), orderOf("one"))
			if err != nil {
				t.Errorf("order: %v", err)
			}
			ids.Store(made.ID, true)
		})
	}
	group.Wait()
	count := 0
	ids.Range(func(any, any) bool { count++; return true })
	g.Expect(count).To(Equal(1), "all have got the same instance")

	made, err := clouds[0].EnsurePool(t.Context(), poolOrder(12), "")
	g.Expect(err).NotTo(HaveOccurred())
	members := func() ([]cloud.Instance, error) {
		return clouds[1].ListInstances(t.Context(), cloud.InstanceFilter{Pool: "ns.pool"})
	}
	// The fake events of the kubelets wake all three fillers at once.
	g.Eventually(members, soon).Should(HaveLen(12))
	before, err := members()
	g.Expect(err).NotTo(HaveOccurred())
	size := func() (int32, error) {
		now, err := clouds[2].GetPool(t.Context(), "ns.pool")
		return now.Instances, err
	}
	g.Eventually(size, soon).Should(BeEquivalentTo(12))
	lose(t, namespace, before[0])
	lose(t, namespace, before[1])
	g.Eventually(func() ([]string, error) {
		now, err := members()
		return idsOf(now), err
	}, soon).Should(And(HaveLen(12), ContainElements(idsOf(before[2:])), Not(ContainElement(before[0].ID))), "only the lost ones are replaced")
	now, err := clouds[0].GetPool(t.Context(), "ns.pool")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now.Version).To(Equal(made.Version))

	// A filler that is late can still create a lost member. It does not count, and goes.
	g.Eventually(size, soon).Should(BeEquivalentTo(12))
	g.Consistently(size, time.Second).Should(BeEquivalentTo(12))
	g.Eventually(members, soon).Should(HaveLen(12))
}

func TestALostMemberThatALateFillerCreates(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	filling := managed(t, namespace)
	late, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(late.Close)
	_, err = filling.EnsurePool(t.Context(), poolOrder(2), "")
	g.Expect(err).NotTo(HaveOccurred())
	members := func() ([]cloud.Instance, error) {
		return filling.ListInstances(t.Context(), cloud.InstanceFilter{Pool: "ns.pool"})
	}
	g.Eventually(members, soon).Should(HaveLen(2))
	read := func() *pool {
		p, err := late.readPool(t.Context(), "ns.pool")
		g.Expect(err).NotTo(HaveOccurred())
		return p
	}
	g.Eventually(func() bool { return read().full() }, soon).Should(BeTrue())

	// This filler has read the record before its first member was created.
	old := read()
	old.Members[0].Created = false
	before, err := members()
	g.Expect(err).NotTo(HaveOccurred())
	lost := before[slices.IndexFunc(before, func(one cloud.Instance) bool { return one.Name == old.instanceName(old.Members[0]) })]
	lose(t, namespace, lost)
	g.Eventually(func() ([]string, error) {
		now, err := members()
		return idsOf(now), err
	}, soon).Should(And(HaveLen(2), Not(ContainElement(lost.ID))))
	offered, err := late.catalog(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(late.createMembers(t.Context(), old, offered)).To(MatchError(ContainSubstring("has been modified")))

	g.Eventually(members, soon).Should(And(HaveLen(2), Not(ContainElement(HaveField("Name", lost.Name)))))
	g.Expect(filling.GetPool(t.Context(), "ns.pool")).To(HaveField("Instances", BeEquivalentTo(2)))
}

// Foo deletes the Machine of a Pod that Kubernetes deletes, before the pool may have noticed.
func TestAPoolDoesNotShrinkWithAPodThatKubernetesDeletes(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	c, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(c.Close)
	_, err = c.EnsurePool(t.Context(), poolOrder(2), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.fillPool(t.Context(), "ns.pool")).To(Succeed())
	members, err := c.ListInstances(t.Context(), cloud.InstanceFilter{Pool: "ns.pool"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(members).To(HaveLen(2))

	pods := outer.client.CoreV1().Pods(namespace)
	hold := func(finalizers string) {
		_, err := pods.Patch(context.WithoutCancel(t.Context()), podOf(members[0].ID), types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	hold(`["test.example/node-is-lost"]`)
	t.Cleanup(func() { hold("null") })
	lose(t, namespace, members[0])
	g.Expect(c.DeleteInstance(t.Context(), members[0].ID)).To(Succeed())
	g.Expect(c.GetPool(t.Context(), "ns.pool")).To(HaveField("Size", BeEquivalentTo(2)))

	g.Expect(c.DeleteInstance(t.Context(), members[1].ID)).To(Succeed())
	g.Expect(c.GetPool(t.Context(), "ns.pool")).To(HaveField("Size", BeEquivalentTo(1)))
}

func idsOf(instances []cloud.Instance) []string {
	ids := make([]string, 0, len(instances))
	for _, one := range instances {
		ids = append(ids, one.ID)
	}
	return ids
}

// awaitQuota waits until the API server enforces the quota of a namespace, which it watches.
func awaitQuota(t *testing.T, namespace string) {
	t.Helper()
	huge := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "huge"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "huge", Image: "huge", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}},
	}}}}
	NewWithT(t).Eventually(func() error {
		_, err := outer.client.CoreV1().Pods(namespace).Create(t.Context(), huge, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}, soon).Should(MatchError(ContainSubstring("exceeded quota")))
}

func TestQuotaOfTheNamespace(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	limit := func(pods string) {
		hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods), corev1.ResourceRequestsCPU: resource.MustParse("9")}
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
		quotas := outer.client.CoreV1().ResourceQuotas(namespace)
		made, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{})
		if err != nil {
			made, err = quotas.Get(t.Context(), quota.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			made.Spec = quota.Spec
			made, err = quotas.Update(t.Context(), made, metav1.UpdateOptions{})
		}
		g.Expect(err).NotTo(HaveOccurred())
		made.Status.Hard = hard // a controller does that in a complete cluster
		if made.Status.Used == nil {
			made.Status.Used = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0"), corev1.ResourceRequestsCPU: resource.MustParse("0")}
		}
		_, err = quotas.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	limit("2")
	awaitQuota(t, namespace)
	c := managed(t, namespace)
	_, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	quota, err := c.Quota(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]int{quota.Limits.Instances, quota.Used.Instances, quota.Limits.CPUs, quota.Used.CPUs}).To(Equal([]int{2, 1, 9, 2}))

	_, err = c.EnsurePool(t.Context(), poolOrder(3), "")
	g.Expect(err).NotTo(HaveOccurred())
	problem := func() (*cloud.Problem, error) {
		pool, err := c.GetPool(t.Context(), "ns.pool")
		return pool.Problem, err
	}
	g.Eventually(problem, soon).Should(HaveValue(HaveField("Reason", cloud.ReasonQuotaExceeded)))
	_, err = c.EnsureInstance(t.Context(), orderOf("two"))
	g.Expect(err).To(MatchError(&cloud.QuotaExceededError{Resource: "instances", Limit: 2, Used: 2, Requested: 1}))

	limit("4")
	g.Eventually(problem, soon).Should(BeNil(), "the pool tries again by itself")
	pool, err := c.GetPool(t.Context(), "ns.pool")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pool.Instances).To(BeEquivalentTo(3))
}

// counter counts the requests of a client.
type counter struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, count := range c.count {
		total += count
	}
	return total
}

func (c *counter) of(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[method]
}

// The requests for each machine do not grow with the pool. The kubelets are so slow that every change
// of a Pod is noticed on its own.
func TestRequestsOfALargePool(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantWithoutKubelets(t, offer)
	slow := rest.CopyConfig(outer.Config)
	slow.QPS, slow.Burst = 50, 1
	kubelets, err := kubernetes.NewForConfig(slow)
	g.Expect(err).NotTo(HaveOccurred())
	startKubelets(t, kubelets, namespace)
	requests := &counter{count: map[string]int{}}
	config := rest.CopyConfig(outer.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			requests.mu.Lock()
			requests.count[request.Method]++
			requests.mu.Unlock()
			return next.RoundTrip(request)
		})
	})
	c, err := NewForConfig(config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	c.Manage()
	t.Cleanup(c.Close)
	observer, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	perMachine := func(name string, size, more int32, order func() error) float64 {
		before, posts := requests.total(), requests.of(http.MethodPost)
		g.Expect(order()).To(Succeed())
		g.Eventually(func() (int, error) {
			instances, err := observer.ListInstances(t.Context(), cloud.InstanceFilter{Pool: name})
			running := 0
			for _, one := range instances {
				if one.State == cloud.InstanceRunning {
					running++
				}
			}
			return running, err
		}, 5*soon, time.Second).Should(BeEquivalentTo(size))
		g.Expect(requests.of(http.MethodPost)-posts).To(BeNumerically(">=", 2*more), "a Pod and a Secret each")
		return float64(requests.total()-before) / float64(more)
	}
	create := func(name string, size int32) float64 {
		return perMachine(name, size, size, func() error {
			spec := poolOrder(size)
			spec.Name = name
			_, err := c.EnsurePool(t.Context(), spec, "")
			return err
		})
	}
	few, many := create("few", 10), create("many", 200)
	grown := perMachine("many", 220, 20, func() error {
		now, err := c.GetPool(t.Context(), "many")
		if err == nil {
			_, err = c.ScalePool(t.Context(), "many", 220, now.Version)
		}
		return err
	})
	t.Logf("requests per machine: %.1f in a pool of 10, %.1f in a pool of 200, %.1f as it grows to 220", few, many, grown)
	// A busy machine notices several changes at once, so the figure varies. If it grew with the pool,
	// it would be hundreds.
	for _, each := range []float64{few, many, grown} {
		g.Expect(each).To(BeNumerically("<=", 15), "docs/kubernetes-cloud.md names the figure")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestAddressThatComesLater(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer+"services: {type: LoadBalancer, annotations: {example.com/internal: \"true\"}}\n"))
	events, err := c.Watch(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	made, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"cluster": "one"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Ready).To(BeFalse())
	g.Expect(made.Address).To(BeEmpty())
	g.Expect(made.Message).To(ContainSubstring("has no address yet"))
	g.Eventually(events, soon).Should(Receive(HaveField("Kind", cloud.EventLoadBalancer)))

	service, err := c.services().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(service.Annotations).To(HaveKeyWithValue("example.com/internal", "true"))
	publishAddresses(t, c, corev1.LoadBalancerIngress{Hostname: "lb.example.com"})
	g.Eventually(events, soon).Should(Receive(HaveField("Kind", cloud.EventLoadBalancer)))
	now, err := c.GetLoadBalancer(t.Context(), "lb")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]any{now.Address, now.Ready}).To(Equal([]any{"lb.example.com", true}))
}

// A controller in the outer cluster may publish the addresses of several nodes, in any order.
// publishAddresses does what a controller of load balancers does, while Foo changes the Service too.
func publishAddresses(t *testing.T, c *Cloud, ingress ...corev1.LoadBalancerIngress) {
	t.Helper()
	NewWithT(t).Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		service, err := c.services().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
		if err != nil {
			return err
		}
		service.Status.LoadBalancer.Ingress = ingress
		_, err = c.services().UpdateStatus(t.Context(), service, metav1.UpdateOptions{})
		return err
	})).To(Succeed())
}

func TestAddressStays(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer+"services: {type: LoadBalancer}\n"))
	spec := cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: template().Tags}
	ensure := func() (cloud.LoadBalancer, error) { return c.EnsureLoadBalancer(t.Context(), spec) }
	_, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred(), "nothing has to hold connections")
	g.Expect(ensure()).To(HaveField("Address", ""))
	publish := func(addresses ...string) {
		var ingress []corev1.LoadBalancerIngress
		for _, address := range addresses {
			ingress = append(ingress, corev1.LoadBalancerIngress{IP: address})
		}
		publishAddresses(t, c, ingress...)
	}
	remains := func(ready bool, message string) {
		want := And(HaveField("Address", "192.0.2.3"), HaveField("Ready", ready), HaveField("Message", message))
		g.Expect(ensure()).To(want)
		g.Expect(c.GetLoadBalancer(t.Context(), "lb")).To(want)
	}
	publish("192.0.2.3")
	remains(true, "")
	publish("192.0.2.1", "192.0.2.3")
	remains(true, "")
	spec.Tags = cloud.Tags{"new": "tag"}
	remains(true, "")
	for _, others := range [][]string{nil, {"192.0.2.1"}} {
		publish(others...)
		remains(false, fmt.Sprintf("Service %s/%s no longer has the address 192.0.2.3", c.namespace, serviceObject("lb")))
	}
	publish("192.0.2.3")
	remains(true, "")
}

// An instance that drains is no backend any more once another one can take over.
func TestLastBackendStays(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer))
	_, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"cluster": "one"}})
	g.Expect(err).NotTo(HaveOccurred())
	service, err := c.services().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	selected := func() ([]string, error) {
		selected := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})
		pods, err := c.pods().List(t.Context(), metav1.ListOptions{LabelSelector: selected + "," + kindLabel + "=" + kindInstance})
		names := []string{}
		for _, pod := range pods.Items {
			names = append(names, pod.Name)
		}
		return names, err
	}
	one, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.DrainInstance(t.Context(), one.ID)).To(Succeed())
	g.Expect(selected()).To(ConsistOf(podOf(one.ID)), "no other can take over")
	two, err := c.EnsureInstance(t.Context(), orderOf("two"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(selected, soon).Should(ConsistOf(podOf(two.ID)), "as soon as the other is ready")
	g.Expect(c.DrainInstance(t.Context(), two.ID)).To(Succeed())
	g.Expect(selected()).To(ConsistOf(podOf(two.ID)))
}

// Whoever may change one object must not be able to stop the whole tenant.
func TestDamagedObjects(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer))
	mine := cloud.LoadBalancerSpec{Name: "mine", Port: 443, TargetPort: 7443, Selector: template().Tags}
	for _, spec := range []cloud.LoadBalancerSpec{mine, {Name: "other", Port: 443, Selector: cloud.Tags{"cluster": "two"}}} {
		_, err := c.EnsureLoadBalancer(t.Context(), spec)
		g.Expect(err).NotTo(HaveOccurred())
		damage := []byte(`{"metadata":{"annotations":{"` + loadBalancerAnnotation + `":"damaged"}}}`)
		_, err = c.services().Patch(t.Context(), serviceObject(spec.Name), types.MergePatchType, damage, metav1.PatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	runs := func(name string) cloud.Instance {
		made, err := c.EnsureInstance(t.Context(), orderOf(name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(func() (cloud.Instance, error) { return c.GetInstance(t.Context(), made.ID) }, soon).Should(HaveField("State", cloud.InstanceRunning))
		return made
	}
	one, damaged := runs("one"), runs("damaged")
	pod := func(id string) *corev1.Pod {
		found, err := c.pods().Get(t.Context(), podOf(id), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return found
	}
	g.Expect(pod(one.ID).Spec.Containers[0].ReadinessProbe.HTTPGet.Port.IntValue()).To(Equal(7443), "its Service says so")
	g.Expect(c.EnsureLoadBalancer(t.Context(), mine)).To(And(HaveField("TargetPort", mine.TargetPort), HaveField("Selector", mine.Selector)))
	g.Expect(c.GetLoadBalancer(t.Context(), "mine")).To(HaveField("Backends", HaveLen(2)), "it is as it was")
	moved := mine
	moved.Port = 444
	_, err := c.EnsureLoadBalancer(t.Context(), moved)
	g.Expect(err).To(MatchError(cloud.IsInvalid, "an InvalidError"))

	damage := []byte(`{"metadata":{"annotations":{"` + instanceAnnotation + `":"damaged"}}}`)
	_, err = c.pods().Patch(t.Context(), podOf(damaged.ID), types.MergePatchType, damage, metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.mark(t.Context(), pod(damaged.ID), "labels", drainingLabel, yes)).To(Succeed())
	two := runs("two")
	g.Expect(c.DrainInstance(t.Context(), one.ID)).To(Succeed())
	g.Eventually(func() map[string]string { return pod(one.ID).Labels }, soon).ShouldNot(HaveKey(backendLabel), "the other is ready")
	g.Expect(pod(two.ID).Labels).To(HaveKey(backendLabel))
	g.Expect(c.EnsureLoadBalancer(t.Context(), mine)).To(HaveField("Backends", HaveLen(2)), "those that can be read")
}

// What another cluster does not have is not gone.
func TestNamespaceThatIsNoCloud(t *testing.T) {
	g := NewWithT(t)
	c, err := NewForConfig(outer.Config, "default")
	g.Expect(err).NotTo(HaveOccurred())
	for name, call := range map[string]func() error{
		"get":           func() error { _, err := c.GetInstance(t.Context(), newID("pod")); return err },
		"list":          func() error { _, err := c.ListInstances(t.Context(), cloud.InstanceFilter{}); return err },
		"pool":          func() error { _, err := c.GetPool(t.Context(), "pool"); return err },
		"pools":         func() error { _, err := c.ListPools(t.Context(), nil); return err },
		"load balancer": func() error { return c.DeleteLoadBalancer(t.Context(), "lb") },
		"watch":         func() error { _, err := c.Watch(t.Context()); return err },
	} {
		g.Expect(call()).To(MatchError(And(ContainSubstring("namespace default of the cluster at"), ContainSubstring("has no ConfigMap foo-cloud"))), name)
		g.Expect(cloud.IsUnauthorized(call())).To(BeTrue(), name)
	}
	_, err = NewForConfig(outer.Config, "a.b")
	g.Expect(err).To(MatchError(ContainSubstring(`namespace "a.b"`)))
	_, err = New(Options{Endpoint: "unix:///run/foo.sock", Namespace: "a", Token: "t"})
	g.Expect(err).To(MatchError(ContainSubstring("must be https://host:port of a Kubernetes API server")))
}

func TestMissingPermissionsAreNamed(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer+"zones: [{name: zone-a}]\n")
	config := rest.CopyConfig(outer.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "tenant-of-" + namespace}
	c, err := NewForConfig(config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "create"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces", "secrets", "services", "resourcequotas"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{ConfigName}, Verbs: []string{"get"}},
	}}
	roles := outer.client.RbacV1().Roles(namespace)
	_, err = roles.Create(t.Context(), role, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = outer.client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "foo"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "foo"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: config.Impersonate.UserName}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return c.Check(t.Context()) }, soon).Should(MatchError(
		fmt.Sprintf("unauthorized: in namespace %s, the token is not allowed to: patch pods, delete pods", namespace)))

	role.Rules[0].Verbs = append(role.Rules[0].Verbs, "patch", "delete")
	_, err = roles.Update(t.Context(), role, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return c.Check(t.Context()) }, soon).Should(Succeed(), "rights in the namespace are enough if the zones are named")
	configure(t, namespace, offer)
	g.Expect(c.Check(t.Context())).To(MatchError(And(ContainSubstring("zones from Nodes"), ContainSubstring("cannot list resource"))))
}

// The account in config/kubernetes-cloud is enough for everything.
func TestPublishedAccount(t *testing.T) {
	g := NewWithT(t)
	content, err := kustomize.Build("../../config/kubernetes-cloud")
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := utilyaml.ToUnstructured(content)
	g.Expect(err).NotTo(HaveOccurred())
	writer, err := client.New(outer.Config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range objects {
		g.Expect(writer.Create(t.Context(), &objects[i])).To(Succeed(), objects[i].GetName())
	}
	const namespace = "foo-machines"
	startKubelets(t, outer.client, namespace)
	config := rest.CopyConfig(outer.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:foo-machines:foo", Groups: []string{"system:serviceaccounts", "system:authenticated"},
	}
	c, err := NewForConfig(config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return c.Check(t.Context()) }, soon).Should(Succeed())
	c.Manage()
	t.Cleanup(c.Close)
	_, err = c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"cluster": "one"}})
	g.Expect(err).NotTo(HaveOccurred())
	one, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.EnsurePool(t.Context(), poolOrder(2), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (int32, error) {
		pool, err := c.GetPool(t.Context(), "ns.pool")
		return pool.Instances, err
	}, soon).Should(BeEquivalentTo(2))
	g.Expect(c.DrainInstance(t.Context(), one.ID)).To(Succeed())
	for _, remove := range []func() error{
		func() error { return c.DeleteInstance(t.Context(), one.ID) },
		func() error { return c.DeletePool(t.Context(), "ns.pool") },
		func() error { return c.DeleteLoadBalancer(t.Context(), "lb") },
	} {
		g.Eventually(remove, soon).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
	}
	_, err = c.Quota(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
}

func TestSweep(t *testing.T) {
	g := NewWithT(t)
	c, err := NewForConfig(outer.Config, tenantOf(t, offer))
	g.Expect(err).NotTo(HaveOccurred())
	made, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.storeUserData(t.Context(), podOf(made.ID), nil)).To(Succeed(), "as if the owner had not been written")
	g.Expect(c.storeUserData(t.Context(), "never-created", nil)).To(Succeed())
	g.Expect(c.sweep(t.Context(), time.Now())).To(Succeed())
	g.Expect(c.secrets().Get(t.Context(), "never-created", metav1.GetOptions{})).NotTo(BeNil(), "its Pod may come yet")

	g.Expect(c.sweep(t.Context(), time.Now().Add(2*orphanAge))).To(Succeed())
	_, err = c.secrets().Get(t.Context(), "never-created", metav1.GetOptions{})
	g.Expect(isGone(err)).To(BeTrue())
	kept, err := c.secrets().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept.OwnerReferences).To(HaveLen(1))
}

// While an instance is created again under its name, its earlier Pod may be deleted once more.
func TestUserDataOfALaterPod(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	c := managed(t, namespace)
	made, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	earlier, err := c.pods().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	lose(t, namespace, made)
	again, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.ID).NotTo(Equal(made.ID))

	g.Expect(c.deletePod(t.Context(), earlier)).To(Succeed())
	later, err := c.pods().Get(t.Context(), earlier.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	secret, err := c.secrets().Get(t.Context(), earlier.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "the later Pod would never start")
	g.Expect(secret.OwnerReferences).To(ConsistOf(HaveField("UID", later.UID)))
}

// Whoever loses the race to create an instance leaves its user data with its owner.
func TestLostRaceKeepsTheOwner(t *testing.T) {
	g := NewWithT(t)
	c, err := NewForConfig(outer.Config, tenantOf(t, offer))
	g.Expect(err).NotTo(HaveOccurred())
	made, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	offered, err := c.catalog(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	late, err := c.create(t.Context(), offered, order{record: newRecord(orderOf("one"), offered), userData: template().UserData})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(late.ID).To(Equal(made.ID))
	secret, err := c.secrets().Get(t.Context(), podOf(made.ID), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(secret.OwnerReferences).To(HaveLen(1))
}

// reserved creates a pool, and notes its members and a problem without creating the members.
func reserved(t *testing.T, c *Cloud, order cloud.PoolSpec, noted *cloud.Problem) (*pool, *catalog) {
	t.Helper()
	g := NewWithT(t)
	_, err := c.EnsurePool(t.Context(), order, "")
	g.Expect(err).NotTo(HaveOccurred())
	read, err := c.readPool(t.Context(), "ns.pool")
	g.Expect(err).NotTo(HaveOccurred())
	offered, err := c.catalog(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.reserve(offered, nil)).To(BeTrue())
	read.Problem = noted
	g.Expect(c.writePool(t.Context(), read)).To(Succeed())
	return read, offered
}

// A manager can be stopped for any time between two calls.
func TestPoolThatIsDeletedWhileItIsFilled(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	slow, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	read, offered := reserved(t, slow, poolOrder(2), nil)

	other, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return other.DeletePool(t.Context(), "ns.pool") }, soon).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
	g.Expect(slow.createMembers(t.Context(), read, offered)).To(Succeed())
	g.Eventually(func() ([]cloud.Instance, error) {
		return other.ListInstances(t.Context(), cloud.InstanceFilter{})
	}, soon).Should(BeEmpty(), "nobody else would delete them")
}

// The outer cluster can create a Pod although its answer is lost.
func TestPodOfADeletedPoolWhoseCreationSeemedToFail(t *testing.T) {
	lost := &cloud.UnavailableError{Message: fmt.Sprintf("endpoint %s: the answer is lost", outer.Host)}
	for name, noted := range map[string]*cloud.Problem{
		"for the first time": nil, "again": {Reason: cloud.ReasonUnavailable, Message: lost.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			namespace, config := tenantOf(t, offer), rest.CopyConfig(outer.Config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(request *http.Request) (*http.Response, error) {
					response, err := next.RoundTrip(request)
					if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/pods") && err == nil {
						return nil, errors.Join(errors.New("the answer is lost"), response.Body.Close())
					}
					return response, err
				})
			})
			slow, err := NewForConfig(config, namespace)
			g.Expect(err).NotTo(HaveOccurred())
			read, offered := reserved(t, slow, poolOrder(1), noted)

			other, err := NewForConfig(outer.Config, namespace)
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(func() error { return other.DeletePool(t.Context(), "ns.pool") }, soon).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
			g.Expect(slow.createMembers(t.Context(), read, offered)).To(MatchError(lost))
			g.Eventually(func() ([]cloud.Instance, error) {
				return other.ListInstances(t.Context(), cloud.InstanceFilter{})
			}, soon).Should(BeEmpty(), "nobody else would delete it")
		})
	}
}

// The token in its user data may expire while a Pod waits for room.
func TestUserDataOfPodsThatWait(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantWithoutKubelets(t, offer)
	c, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	spec := poolOrder(2)
	made, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.fillPool(t.Context(), spec.Name)).To(Succeed())
	pods, err := c.labelledPods(t.Context(), nil, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pods).To(HaveLen(2))
	runs, waits := &pods[0], &pods[1]
	runs.Status.Phase = corev1.PodRunning
	_, err = outer.client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), runs, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	const old, renewed = "#cloud-config\n", "#cloud-config\n# with a new token\n"
	expect := func(pod *corev1.Pod, userData string) {
		secret, err := c.secrets().Get(t.Context(), pod.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(secret.Data[userDataKey])).To(Equal(userData))
		g.Expect(secret.OwnerReferences).To(ConsistOf(HaveField("UID", pod.UID)))
	}
	spec.Template.UserData = []byte(renewed)
	made, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.fillPool(t.Context(), spec.Name)).To(Succeed())
	expect(waits, renewed)
	expect(runs, old)

	spec.Revision, spec.Template.UserData = "2", []byte("#cloud-config\n# of another version\n")
	_, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.fillPool(t.Context(), spec.Name)).To(Succeed())
	expect(waits, renewed)
	expect(runs, old)

	written := func() string {
		secret, err := c.secrets().Get(t.Context(), poolObject(spec.Name), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return secret.ResourceVersion
	}
	before := written()
	g.Expect(c.fillPool(t.Context(), spec.Name)).To(Succeed())
	g.Expect(written()).To(Equal(before), "there is nothing more to do")
}

// Whoever may change Secrets must not be able to stop the manager.
func TestLabelsOfAPoolAreRemoved(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantOf(t, offer))
	spec := poolOrder(1)
	spec.Tags = cloud.Tags{"owner": "one"}
	_, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	size := func() (int32, error) {
		pool, err := c.GetPool(t.Context(), "ns.pool")
		return pool.Instances, err
	}
	g.Eventually(size, soon).Should(BeEquivalentTo(1))
	_, err = c.secrets().Patch(t.Context(), poolObject("ns.pool"), types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	now, err := c.GetPool(t.Context(), "ns.pool")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.ScalePool(t.Context(), "ns.pool", 2, now.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(size, soon).Should(BeEquivalentTo(2))
	g.Expect(c.ListPools(t.Context(), nil)).To(HaveLen(1), "its labels are back")
}

// What an administrator takes out of the catalog is not created any more, and pools say so.
func TestCatalogThatChanges(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	c := managed(t, namespace)
	made, err := c.EnsurePool(t.Context(), poolOrder(1), "")
	g.Expect(err).NotTo(HaveOccurred())
	pool := func() (cloud.Pool, error) { return c.GetPool(t.Context(), "ns.pool") }
	g.Eventually(pool, soon).Should(HaveField("Instances", BeEquivalentTo(1)))
	configure(t, namespace, strings.Replace(offer, "name: small", "name: large", 1))
	_, err = c.ScalePool(t.Context(), "ns.pool", 2, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(pool, soon).Should(HaveField("Problem", HaveValue(And(
		HaveField("Reason", cloud.ReasonInvalid), HaveField("Message", `template.type "small": unknown instance type, allowed: large`)))))
	g.Expect(pool()).To(HaveField("Instances", BeEquivalentTo(1)), "what exists stays")
	configure(t, namespace, "instanceTypes: {")
	g.Eventually(pool, soon).Should(HaveField("Problem", HaveValue(And(
		HaveField("Reason", cloud.ReasonUnavailable), HaveField("Message", ContainSubstring("ConfigMap "+namespace+"/foo-cloud, key cloud.yaml"))))))
	configure(t, namespace, offer)
	g.Eventually(pool, soon).Should(And(HaveField("Instances", BeEquivalentTo(2)), HaveField("Problem", BeNil())))
}

// A pool whose image the ConfigMap no longer has can change, but not grow.
func TestPoolWhoseImageIsLost(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	c := managed(t, namespace)
	spec := poolOrder(1)
	spec.Template.Image = "gpu"
	made, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	pool := func() (cloud.Pool, error) { return c.GetPool(t.Context(), spec.Name) }
	full := func(size int) OmegaMatcher {
		return And(HaveField("Instances", BeEquivalentTo(size)), HaveField("Problem", BeNil()))
	}
	g.Eventually(pool, soon).Should(full(1))
	configure(t, namespace, strings.Replace(offer, "name: gpu", "name: tpu", 1))
	g.Eventually(c.Images, soon).WithArguments(t.Context()).ShouldNot(ContainElement(HaveField("Name", "gpu")))

	spec.Template.Tags, spec.Template.UserData = cloud.Tags{"cluster": "two"}, []byte("#cloud-config\n# with a new token\n")
	made, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).NotTo(HaveOccurred(), "the image is the one from before")
	g.Expect(made.SameTemplate(spec)).To(BeTrue())
	other := spec
	other.Template.Image = "typo"
	_, err = c.EnsurePool(t.Context(), other, made.Version)
	g.Expect(err).To(MatchError(HavePrefix(`template.image "typo": no image of this name`)))
	other = spec
	other.Revision = "2"
	_, err = c.EnsurePool(t.Context(), other, made.Version)
	g.Expect(cloud.IsInvalid(err)).To(BeTrue(), "its instances could not be replaced")
	other = spec
	other.Name = "ns.other"
	_, err = c.EnsurePool(t.Context(), other, "")
	g.Expect(err).To(MatchError(HavePrefix(`template.image "gpu": no image of this name`)), "a new pool needs an image")

	made, err = c.ScalePool(t.Context(), spec.Name, 2, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(pool, soon).Should(HaveField("Problem", HaveValue(HaveField("Reason", cloud.ReasonInvalid))))
	g.Expect(pool()).To(HaveField("Instances", BeEquivalentTo(1)))

	spec.Revision, spec.Template.Image = "2", "tpu"
	_, err = c.EnsurePool(t.Context(), spec, made.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(pool, soon).Should(full(2))
}

// Nothing is created in a namespace that is being deleted, and nothing there counts as lost.
func TestNamespaceThatIsDeleted(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	c := managed(t, namespace)
	made, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	other, err := c.EnsureInstance(t.Context(), orderOf("other"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, one := range []cloud.Instance{made, other} {
		g.Eventually(func() (cloud.Instance, error) { return c.GetInstance(t.Context(), one.ID) }, soon).Should(HaveField("State", cloud.InstanceRunning))
	}
	g.Expect(outer.client.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{})).To(Succeed())
	_, err = c.EnsureInstance(t.Context(), orderOf("two"))
	g.Expect(err).To(MatchError(ContainSubstring("because it is being terminated")))
	g.Expect(cloud.IsUnauthorized(err)).To(BeTrue())
	nothingIsLost := func() {
		for name, call := range map[string]func() error{
			"get":         func() error { _, err := c.GetInstance(t.Context(), made.ID); return err },
			"list":        func() error { _, err := c.ListInstances(t.Context(), cloud.InstanceFilter{}); return err },
			"delete":      func() error { return c.DeleteInstance(t.Context(), made.ID) },
			"pool":        func() error { _, err := c.GetPool(t.Context(), "pool"); return err },
			"delete pool": func() error { return c.DeletePool(t.Context(), "pool") },
		} {
			g.Expect(call()).To(MatchError(cloud.IsUnauthorized, "an UnauthorizedError"), name)
		}
	}
	// A controller deletes the Pods first, one after the other, and then everything else.
	lose(t, namespace, made)
	nothingIsLost()
	lose(t, namespace, other)
	nothingIsLost()
	g.Expect(outer.client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), ConfigName, metav1.DeleteOptions{})).To(Succeed())
	nothingIsLost()
}

// An account that may list objects but not watch them is no reason for a storm of requests.
func TestWatchThatIsForbidden(t *testing.T) {
	g := NewWithT(t)
	config, watches := rest.CopyConfig(outer.Config), atomic.Int32{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/secrets") && request.URL.Query().Get("watch") != "" {
				watches.Add(1)
				return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Request: request}, nil
			}
			return next.RoundTrip(request)
		})
	})
	c, err := NewForConfig(config, tenantOf(t, offer))
	g.Expect(err).NotTo(HaveOccurred())
	c.Manage()
	t.Cleanup(c.Close)
	g.Eventually(watches.Load, soon).Should(BeNumerically(">", 1))
	g.Consistently(watches.Load, 5*time.Second).Should(BeNumerically("<", 10))
}

// A pool cannot be filled without knowing which load balancers its instances are for.
func TestServicesThatCannotBeListed(t *testing.T) {
	g := NewWithT(t)
	config, refuses := rest.CopyConfig(outer.Config), atomic.Bool{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/services") && refuses.Load() {
				return nil, errors.New("services are refused")
			}
			return next.RoundTrip(request)
		})
	})
	c, err := NewForConfig(config, tenantOf(t, offer))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.EnsurePool(t.Context(), poolOrder(1), "")
	g.Expect(err).NotTo(HaveOccurred())
	pool := func() (cloud.Pool, error) { return c.GetPool(t.Context(), "ns.pool") }
	refuses.Store(true)
	g.Expect(c.fillPool(t.Context(), "ns.pool")).To(MatchError(ContainSubstring("services are refused")))
	g.Expect(pool()).To(HaveField("Problem", HaveValue(HaveField("Message", ContainSubstring("services are refused")))))
	refuses.Store(false)
	g.Expect(c.fillPool(t.Context(), "ns.pool")).To(Succeed())
	g.Expect(pool()).To(And(HaveField("Instances", BeEquivalentTo(1)), HaveField("Problem", BeNil())))
}

// Pools are filled even if they could not be listed when the watch began.
func TestListOfPoolsThatFails(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantOf(t, offer)
	first, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = first.EnsurePool(t.Context(), poolOrder(1), "")
	g.Expect(err).NotTo(HaveOccurred())

	config, failures := rest.CopyConfig(outer.Config), atomic.Int32{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			query := request.URL.Query()
			if strings.HasSuffix(request.URL.Path, "/secrets") && strings.Contains(query.Get("labelSelector"), kindPool) && query.Get("watch") == "" && failures.Add(1) <= 3 {
				return nil, errors.New("connection reset")
			}
			return next.RoundTrip(request)
		})
	})
	c, err := NewForConfig(config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	c.Manage()
	t.Cleanup(c.Close)
	g.Eventually(func() (int32, error) {
		pool, err := first.GetPool(t.Context(), "ns.pool")
		return pool.Instances, err
	}, soon).Should(BeEquivalentTo(1))
	g.Expect(failures.Load()).To(BeNumerically(">", 3))
}
