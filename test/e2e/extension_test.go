//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// versionAddon shows for which version it was applied, and has another object before the upgrade.
func versionAddon(namespace string) *extensionv1.Addon {
	const shown = `
apiVersion: v1
kind: ConfigMap
metadata: {name: from-addon, namespace: kube-public}
data: {for: "{{ .KubernetesVersion }} of {{ .Cluster.metadata.name }}"}
`
	return &extensionv1.Addon{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "version"},
		Spec: extensionv1.AddonSpec{
			// The pod network is ready before it is applied.
			ClusterSelector: metav1.LabelSelector{MatchLabels: map[string]string{"network": "flannel"}}, Order: 1, Upgrade: extensionv1.BeforeControlPlane,
			Variants: []extensionv1.AddonVariant{
				{KubernetesVersions: "<1.36.0", Template: shown + "---\n" + strings.Replace(shown, "from-addon", "from-old-addon", 1)},
				{Template: shown},
			},
		},
	}
}

// snapshots is the folder of control plane machines that stores snapshots. It stands for a mounted one.
const snapshots = "/var/lib/e2e-snapshots"

// One cluster with all hooks enabled is used for all of these stories. Cluster API calls the hooks;
// the test only watches, and fulfils what they wait for.
var _ = Describe("A cluster whose lifecycle hooks Foo answers", Ordered, Label("extension", needsAllVersions, needsNextRelease, needsImages), func() {
	const namespace = "hooks"
	var c *cluster
	var before string
	var called func() []string

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		load := command(ctx, "foocloud", "image", "load", "--name=foo-etcd-snapshot:unreleased", filepath.Join(bin, "images/images/etcd-snapshot-v0.1.0.tar"))
		load.Env = append(load.Env, m.cloudEnv()...)
		output(load)
		m.volumeBackup(ctx, namespace, "backup")
		m.setHooks(ctx, allHooks())
		DeferCleanup(func(ctx SpecContext) { m.setHooks(ctx, map[string]string{}) }, NodeTimeout(soon))
		Expect(m.Create(ctx, versionAddon(namespace))).To(Succeed())
		c = m.newExtensionCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "hooked"}, flavor{
			name: "topology", shape: shape{controlPlanes: 1, workers: 1, version: previousVersion},
			variables: []string{"FOO_CONTROL_PLANE_INSTANCE_TYPE=giant", "FOO_FAST=true"},
		})
		called = c.watchHooks(ctx)
	}, NodeTimeout(clusterUp))

	It("is not created while the quota has no room for it", func(ctx SpecContext) {
		c.held(ctx, "BeforeClusterCreate", Equal("waiting for room in the quota: CPUs: 1002 needed, 0 of 200 used, 0 reserved for other Clusters"))
		Consistently(func(g Gomega) { g.Expect(c.now(g, ctx).Spec.InfrastructureRef.IsDefined()).To(BeFalse()) }).
			WithContext(ctx).Should(Succeed(), "objects were created while the hook blocked")
		c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/variables/0","value":{"name":"controlPlaneInstanceType","value":"small"}}]`)
		c.let(ctx, "BeforeClusterCreate")
		c.available(ctx)
		for _, machine := range c.controlPlaneFooMachines(Default, ctx) {
			Expect(machine.Spec.InstanceType).To(Equal("small"), "patched by the extension")
		}
	}, NodeTimeout(2*clusterUp))

	It("gets its add-ons once its control plane is initialized", func(ctx SpecContext) {
		c.let(ctx, "AfterControlPlaneInitialized")
		Expect(c.fromAddons(ctx)).To(Equal("from-addon: " + previousVersion + " of hooked, from-old-addon: " + previousVersion + " of hooked, "))
		Expect(c.on(ctx, "--namespace=kube-flannel", "rollout", "status", "daemonset", "flannel")).To(ContainSubstring("successfully rolled out"))
		c.nodesReady(ctx, 1, 1)
	}, NodeTimeout(clusterUp))

	It("is upgraded only after its etcd was saved, even if the extension dies while it waits", func(ctx SpecContext) {
		c.on(ctx, "create", "configmap", "before-the-upgrade", "--from-literal=kept=yes")
		c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/version","value":"`+currentVersion+`"}]`)
		c.let(ctx, "BeforeClusterUpgrade")
		// The Job waits for a folder that nobody has mounted.
		c.held(ctx, "BeforeControlPlaneUpgrade", HavePrefix("waiting for an etcd snapshot: Job kube-system/foo-etcd-snapshot-"))
		c.kill("runtime-extension")
		Consistently(func(g Gomega) { g.Expect(c.controlPlane(g, ctx).Spec.Version).To(Equal(previousVersion)) }).
			WithContext(ctx).Should(Succeed(), "the control plane is upgraded while the hook blocks")
		store := c.snapshotStore(ctx)
		c.let(ctx, "BeforeControlPlaneUpgrade")
		before = c.copySnapshot(ctx, store, previousVersion)
		Expect(c.fromAddons(ctx)).To(HavePrefix("from-addon: " + currentVersion + " of hooked, "))
		c.on(ctx, "create", "configmap", "after-the-snapshot", "--from-literal=kept=no")
	}, NodeTimeout(2*clusterUp))

	It("is checked after each step of the upgrade", func(ctx SpecContext) {
		for _, hook := range []string{"AfterControlPlaneUpgrade", "BeforeWorkersUpgrade", "AfterWorkersUpgrade", "AfterClusterUpgrade"} {
			c.letWithin(ctx, hook, rolledOut)
		}
		Eventually(called).WithContext(ctx).Should(Equal([]string{
			"BeforeClusterCreate", "AfterControlPlaneInitialized", "BeforeClusterUpgrade", "BeforeControlPlaneUpgrade", "AfterControlPlaneUpgrade",
			"BeforeWorkersUpgrade", "AfterWorkersUpgrade", "AfterClusterUpgrade",
		}), "hooks in the order in which Cluster API called them")
		Expect(c.job(Default, ctx, "AfterClusterUpgrade").Status.Report).NotTo(BeEmpty(), "the result of the checks")
		Expect(c.fromAddons(ctx)).To(Equal("from-addon: "+currentVersion+" of hooked, "), "the object of the old variant is gone")
		for _, node := range c.nodesReady(ctx, 1, 1) {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(currentVersion))
		}
	}, NodeTimeout(2*rolledOut))

	It("has a snapshot from before the upgrade that restores into a working etcd", func(ctx SpecContext) {
		keys := restore(ctx, before)
		Expect(keys).To(HaveKey("/registry/configmaps/default/before-the-upgrade"))
		Expect(keys).NotTo(HaveKey("/registry/configmaps/default/after-the-snapshot"))
		Expect(keys).To(HaveKey("/registry/namespaces/kube-system"))
	}, NodeTimeout(clusterUp))

	It("is deleted only after its cloud resources are gone", func(ctx SpecContext) {
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "public", Finalizers: []string{"e2e.foo/load-balancer"}},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
		}
		Expect(c.workload.Create(ctx, service)).To(Succeed())
		store := c.snapshotStore(ctx)
		c.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", c.key.Name, "--wait=false")
		c.held(ctx, "BeforeClusterDelete", ContainSubstring("default/public"))
		Expect(c.nodesReady(ctx, 1, 1)).To(HaveLen(2), "the cluster is being deleted while the hook blocks")
		Expect(c.job(Default, ctx, "BeforeClusterDelete").Status.Report).To(MatchRegexp(`volume backup: Job default/foo-volume-backup-[0-9a-f]{10} is complete`))
		Expect(restore(ctx, c.copySnapshot(ctx, store, "final"))).To(HaveKey("/registry/services/specs/default/public"))
		patch := client.MergeFrom(service.DeepCopy())
		service.Finalizers = nil
		Expect(c.workload.Patch(ctx, service, patch)).To(Succeed())
		Eventually(ctx, c.clusters(namespace)).WithTimeout(clusterGone).Should(BeEmpty(), "the Cluster is not gone")
	}, NodeTimeout(2*clusterUp))
})

// What a cluster waits for in these stories never happens; only changing the registration unblocks
// it.
var _ = Describe("The registration of the runtime extension", Label("extension", needsNextRelease), func() {
	It("can be limited to some namespaces, removed and restored while clusters wait", func(ctx SpecContext) {
		const namespace = "registered"
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		m.setHooks(ctx, map[string]string{"quotaCheck": "Enabled"})
		DeferCleanup(func(ctx SpecContext) { m.setHooks(ctx, map[string]string{}) }, NodeTimeout(soon))
		waiting := func(name string) *cluster {
			c := m.newFlavor(ctx, client.ObjectKey{Namespace: namespace, Name: name}, flavor{
				name: "topology", shape: shape{controlPlanes: 1, version: currentVersion}, variables: []string{"FOO_CONTROL_PLANE_INSTANCE_TYPE=giant"},
			})
			c.held(ctx, "BeforeClusterCreate", HavePrefix("waiting for room in the quota: "))
			return c
		}
		made := func(c *cluster) {
			Eventually(func(g Gomega) { g.Expect(c.now(g, ctx).Spec.InfrastructureRef.IsDefined()).To(BeTrue()) }).
				WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the hook still blocks Cluster %s", c.key)
		}

		By("excluding the namespace")
		first := waiting("left-out")
		m.patchRegistration(ctx, `[{"op":"replace","path":"/spec/namespaceSelector","value":{"matchLabels":{"kubernetes.io/metadata.name":"another"}}}]`)
		made(first)
		m.patchRegistration(ctx, `[{"op":"replace","path":"/spec/namespaceSelector","value":{}}]`)

		By("removing the registration")
		second := waiting("taken-back")
		registration := &unstructured.Unstructured{}
		Expect(json.Unmarshal([]byte(m.kubectl(ctx, "get", "extensionconfig", "foo", "--output=json")), &registration.Object)).To(Succeed())
		m.kubectl(ctx, "delete", "extensionconfig", "foo")
		made(second)

		By("restoring it")
		again := &unstructured.Unstructured{Object: map[string]any{"spec": registration.Object["spec"]}}
		again.SetGroupVersionKind(registration.GroupVersionKind())
		again.SetName(registration.GetName())
		m.apply(ctx, []*unstructured.Unstructured{again})
		m.registered(ctx)
		third := waiting("given-again")

		By("skipping the hook for one cluster")
		m.kubectl(ctx, "--namespace="+namespace, "annotate", "cluster", third.key.Name, "foo.cluster.x-k8s.io/skip-hooks=BeforeClusterCreate")
		made(third)
	}, NodeTimeout(3*clusterUp))
})

// newExtensionCluster creates a cluster of the ClusterClass whose variables, patches and upgrade
// plans come from the extension.
func (m *management) newExtensionCluster(ctx context.Context, key client.ObjectKey, want flavor) *cluster {
	GinkgoHelper()
	class := command(ctx, "tools/clusterctl", "generate", "yaml", "--from="+filepath.Join(bin, "release/infrastructure-foo", nextRelease, "clusterclass-foo-extension.yaml"))
	class.Env = append(class.Env, "NAMESPACE="+key.Namespace)
	objects := decodeObjects(bytes.NewBufferString(output(class)))
	for _, object := range m.generate(ctx, key, want) {
		if object.GetKind() == "Cluster" {
			Expect(unstructured.SetNestedField(object.Object, className+"-extension", "spec", "topology", "classRef", "name")).To(Succeed())
			object.SetLabels(map[string]string{"network": "flannel"}) // The add-on that comes with the class.
			objects = append(objects, object)
		}
	}
	for _, object := range objects {
		object.SetNamespace(key.Namespace)
	}
	m.apply(ctx, objects)
	return &cluster{management: m, key: key, kubeconfig: filepath.Join(suiteDir, key.Namespace+"-"+key.Name+".kubeconfig")}
}

// allHooks are settings that enable everything that the hooks can do.
func allHooks() map[string]string {
	return map[string]string{
		"quotaCheck": "Enabled", "addons": "Enabled", "upgradeChecks": "Enabled", "snapshots": "Enabled",
		"snapshotURL": "file://" + snapshots, "volumeBackupJob": "backup", "finalSnapshot": "Enabled", "smokeChecks": "Enabled", "conformanceChecks": "Enabled", "cleanUp": "Enabled",
	}
}

// setHooks sets the settings of the ExtensionConfig.
func (m *management) setHooks(ctx context.Context, settings map[string]string) {
	GinkgoHelper()
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/settings", "value": settings}})
	Expect(err).NotTo(HaveOccurred())
	m.patchRegistration(ctx, string(patch))
}

// patchRegistration changes the ExtensionConfig with a JSON patch, and waits until Cluster API has
// seen the change.
func (m *management) patchRegistration(ctx context.Context, patch string) {
	GinkgoHelper()
	m.kubectl(ctx, "patch", "extensionconfig", "foo", "--type=json", "--patch="+patch)
	m.registered(ctx)
}

// registered waits until Cluster API calls the extension as configured in its ExtensionConfig.
func (m *management) registered(ctx context.Context) {
	GinkgoHelper()
	const seen = "{.metadata.generation} {.status.conditions[?(@.type=='Discovered')].observedGeneration} {.status.conditions[?(@.type=='Discovered')].status}"
	Eventually(func() []string {
		return strings.Fields(m.kubectl(ctx, "get", "extensionconfig", "foo", "--output=jsonpath="+seen))
	}).WithContext(ctx).Should(Satisfy(func(words []string) bool {
		return len(words) == 3 && words[0] == words[1] && words[2] == "True"
	}), "the registration has no effect")
}

// fromAddons returns the ConfigMaps of the add-on in versionAddon.
func (c *cluster) fromAddons(ctx context.Context) string {
	GinkgoHelper()
	return c.on(ctx, "--namespace=kube-public", "get", "configmap", "--selector=foo.cluster.x-k8s.io/addon=version",
		"--output=jsonpath={range .items[*]}{.metadata.name}: {.data.for}, {end}")
}

// volumeBackup creates a Job that stands for one that backs up volumes.
func (m *management) volumeBackup(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	const job = "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: backup, image: %q, command: [\"true\"]}]}}}\n"
	Expect(m.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"job.yaml": fmt.Sprintf(job, shellImage)},
	})).To(Succeed())
}

// now returns the current Cluster.
func (c *cluster) now(g Gomega, ctx context.Context) *clusterv1.Cluster {
	var now clusterv1.Cluster
	g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
	return &now
}

// job returns the job of a hook.
func (c *cluster) job(g Gomega, ctx context.Context, hook string) extensionv1.HookJob {
	var list extensionv1.HookJobList
	g.Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name})).To(Succeed())
	jobs := slices.DeleteFunc(list.Items, func(job extensionv1.HookJob) bool { return job.Spec.Hook != hook })
	g.Expect(jobs).To(HaveLen(1), "jobs of the hook %s", hook)
	return jobs[0]
}

// messageOf returns what a job waits for, or how it ended.
func messageOf(job extensionv1.HookJob) string {
	condition := meta.FindStatusCondition(job.Status.Conditions, extensionv1.HookJobCompletedCondition)
	if condition == nil {
		return ""
	}
	return condition.Message
}

// held waits until a hook blocks the cluster with a message that also appears in a condition of the
// Cluster.
func (c *cluster) held(ctx context.Context, hook string, message types.GomegaMatcher) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		job := c.job(g, ctx, hook)
		g.Expect(job.IsCompleted()).To(BeFalse())
		g.Expect(messageOf(job)).To(message)
		g.Expect(c.conditionMessages(g, ctx)).To(ContainElement(ContainSubstring(messageOf(job))), "no condition of the Cluster contains it")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the hook %s does not block the cluster", hook)
}

func (c *cluster) conditionMessages(g Gomega, ctx context.Context) []string {
	var messages []string
	for _, condition := range c.now(g, ctx).Status.Conditions {
		messages = append(messages, condition.Message)
	}
	return messages
}

// let waits until the job of a hook is done.
func (c *cluster) let(ctx context.Context, hook string) {
	GinkgoHelper()
	c.letWithin(ctx, hook, clusterUp)
}

func (c *cluster) letWithin(ctx context.Context, hook string, timeout time.Duration) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		job := c.job(g, ctx, hook)
		g.Expect(job.IsCompleted()).To(BeTrue(), "%s: %s", hook, messageOf(job))
	}).WithContext(ctx).WithTimeout(timeout).Should(Succeed())
}

// watchHooks returns a function that returns the called hooks in order.
func (c *cluster) watchHooks(ctx context.Context) func() []string {
	var mu sync.Mutex
	var order []string
	repeat(context.WithoutCancel(ctx), interval, func(ctx context.Context) error {
		var list extensionv1.HookJobList
		if err := c.List(ctx, &list, client.InNamespace(c.key.Namespace)); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		slices.SortFunc(list.Items, func(a, b extensionv1.HookJob) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
		for _, job := range list.Items {
			if !slices.Contains(order, job.Spec.Hook) {
				order = append(order, job.Spec.Hook)
			}
		}
		return nil
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(order)
	}
}

// restore restores a snapshot like an administrator, starts etcd on it, and returns all keys.
func restore(ctx context.Context, file string) sets.Set[string] {
	GinkgoHelper()
	dir := filepath.Join(GinkgoT().TempDir(), "data")
	peer, address := "http://"+freeAddress(ctx, "127.0.0.1"), "http://"+freeAddress(ctx, "127.0.0.1")
	Expect(snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, Name: "restored", OutputDataDir: dir, PeerURLs: []string{peer}, InitialCluster: "restored=" + peer,
		InitialClusterToken: "restored",
	})).To(Succeed())
	etcd := start(command(ctx, "kubernetes/"+currentVersion+"/etcd", "--name=restored", "--data-dir="+dir, "--listen-client-urls="+address,
		"--advertise-client-urls="+address, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer))
	defer etcd.interrupt(ctx)
	asked, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: etcdAnswers})
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(asked.Close()).To(Succeed()) }()
	keys := sets.New[string]()
	Eventually(func(g Gomega) {
		ctx, cancel := context.WithTimeout(ctx, etcdAnswers)
		defer cancel()
		answer, err := asked.Get(ctx, "/registry/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		g.Expect(err).NotTo(HaveOccurred())
		for _, pair := range answer.Kvs {
			keys.Insert(string(pair.Key))
		}
	}).WithContext(ctx).Should(Succeed(), "the restored etcd does not answer: %s", etcd.said.Contents())
	return keys
}

// snapshotStore creates the folder for snapshots on the only control plane machine, and returns the
// name of a Pod that has it.
func (c *cluster) snapshotStore(ctx context.Context) string {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	Expect(c.workload.List(ctx, nodes, client.HasLabels{"node-role.kubernetes.io/control-plane"})).To(Succeed())
	Expect(nodes.Items).To(HaveLen(1))
	node := nodes.Items[0].Name
	pod := c.runPod(ctx, "store-"+node, node, corev1.Container{
		Image: shellImage, Command: hello, VolumeMounts: []corev1.VolumeMount{{Name: "snapshots", MountPath: snapshots}},
	}, func(spec *corev1.PodSpec) {
		kind := corev1.HostPathDirectoryOrCreate
		spec.Volumes = []corev1.Volume{{Name: "snapshots", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: snapshots, Type: &kind}}}}
	})
	return c.podReady(ctx, pod).Name
}

// copySnapshot returns a copy of the snapshot of a version, before its machine is gone.
func (c *cluster) copySnapshot(ctx context.Context, store, version string) string {
	GinkgoHelper()
	files := strings.Fields(c.on(ctx, "exec", store, "--", "find", snapshots, "-path", "*/"+version+"/*.db"))
	Expect(files).To(HaveLen(1), "snapshots of %s", version)
	file := filepath.Join(suiteDir, "snapshot-"+version+".db")
	Expect(os.WriteFile(file, []byte(c.on(ctx, "exec", store, "--", "cat", files[0])), 0o600)).To(Succeed())
	return file
}
