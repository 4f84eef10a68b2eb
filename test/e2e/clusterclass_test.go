//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

const (
	// className is the ClusterClass that the release publishes.
	className = "foo"
	// quiet is how long a settled cluster must have no writes. brieflyQuiet is used in the stories
	// without the label slow.
	quiet, brieflyQuiet = 2 * time.Minute, 20 * time.Second
)

// One cluster is used for all of these stories, so each starts with the result of the previous one:
// one control plane Machine, a pool and a MachineDeployment, all settled.
var _ = Describe("A cluster of a ClusterClass", Ordered, Label("clusterclass", needsAllVersions, needsNextRelease), func() {
	const namespace = "class"
	var c *cluster
	// version is the current version of the cluster.
	version := previousVersion

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newFlavor(ctx, client.ObjectKey{Namespace: namespace, Name: "made"}, flavor{
			name: "topology", shape: shape{controlPlanes: 1, workers: 1, version: version}, variables: []string{"FOO_DEPLOYMENT_MACHINE_COUNT=1", "FOO_FAST=true"},
		})
	}, NodeTimeout(clusterUp))

	It("comes up", func(ctx SpecContext) {
		c.available(ctx)
		c.nodesReady(ctx, 1, 2)
		c.topologySettled(ctx, counts{1, 1, 1}, version)
		c.withoutDNSPods(ctx)
		var checks clusterv1.MachineHealthCheckList
		Expect(c.List(ctx, &checks, client.InNamespace(namespace))).To(Succeed())
		Expect(checks.Items).To(HaveLen(2), "health checks of the control plane and of the MachineDeployment")
		c.expectMachines(ctx, 0, func() {}, func() { c.expectQuiet(ctx, brieflyQuiet) })
	}, NodeTimeout(3*clusterUp))

	It("is upgraded by its version, the control plane before the workers", Label("slow"), func(ctx SpecContext) {
		version = currentVersion
		disorder := c.watchUpgrade(ctx, version)
		c.expectMachines(ctx, 3, func() {
			c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/version","value":"`+version+`"}]`)
		}, func() { c.topologySettled(ctx, counts{1, 1, 1}, version) })
		Expect(disorder()).To(BeEmpty())
		for _, node := range c.nodesReady(ctx, 1, 2) {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(version))
		}
	}, NodeTimeout(2*rolledOut))

	It("is scaled by its topology", func(ctx SpecContext) {
		c.expectMachines(ctx, 1, func() {
			c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/workers/machinePools/0/replicas","value":2},
				{"op":"replace","path":"/spec/topology/workers/machineDeployments/0/replicas","value":0}]`)
		}, func() { c.topologySettled(ctx, counts{1, 2, 0}, version) })
		c.expectMachines(ctx, 1, func() {
			c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/workers/machinePools/0/replicas","value":1},
				{"op":"replace","path":"/spec/topology/workers/machineDeployments/0/replicas","value":1}]`)
		}, func() { c.topologySettled(ctx, counts{1, 1, 1}, version) })
	}, NodeTimeout(4*clusterUp))

	It("applies a change of its class in place where possible", func(ctx SpecContext) {
		c.expectMachines(ctx, 0, func() {
			c.patchClass(ctx, `[{"op":"add","path":"/spec/controlPlane/deletion","value":{"nodeDrainTimeoutSeconds":77}},
				{"op":"add","path":"/spec/controlPlane/metadata","value":{"labels":{"e2e.foo/class":"changed"}}},
				{"op":"add","path":"/spec/workers/machineDeployments/0/deletion","value":{"nodeDrainTimeoutSeconds":78}},
				{"op":"add","path":"/spec/workers/machinePools/0/deletion","value":{"nodeDrainTimeoutSeconds":79}}]`)
			Eventually(func(g Gomega) {
				timeouts := sets.New[int32]()
				for _, machine := range c.machines(g, ctx) {
					timeouts.Insert(ptr.Deref(machine.Spec.Deletion.NodeDrainTimeoutSeconds, 0))
				}
				g.Expect(sets.List(timeouts)).To(Equal([]int32{77, 78, 79}), "drain timeouts of the Machines")
				g.Expect(c.controlPlaneMachines(g, ctx)[0].Labels).To(HaveKeyWithValue("e2e.foo/class", "changed"))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		}, func() { c.topologySettled(ctx, counts{1, 1, 1}, version) })
	}, NodeTimeout(2*clusterUp))

	It("rolls its workers once when their template is rotated", func(ctx SpecContext) {
		before := c.templateOf(Default, ctx)
		c.expectMachines(ctx, 2, func() {
			c.patchCluster(ctx, `[{"op":"replace","path":"/spec/topology/variables","value":[
				{"name":"workerInstanceType","value":"medium"},{"name":"fast","value":true}]}]`)
			Eventually(func(g Gomega) { g.Expect(c.templateOf(g, ctx)).NotTo(Equal(before), "the FooMachineTemplate") }).
				WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		}, func() { c.topologySettled(ctx, counts{1, 1, 1}, version) })
		for _, machine := range c.fooMachines(Default, ctx) {
			if _, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]; !controlPlane {
				Expect(machine.Spec.InstanceType).To(Equal("medium"))
			}
		}
		Eventually(ctx, c.gone(&infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: before}})).WithTimeout(clusterUp).
			Should(BeTrue(), "the unused template still exists")
	}, NodeTimeout(4*clusterUp))

	It("rolls its control plane once for another template of the class", Label("slow"), func(ctx SpecContext) {
		template := c.classTemplate(ctx, "FooControlPlaneTemplate", className)
		template.SetName("foo-2")
		commands := addCommands(template, []string{"true"}, "spec", "template", "spec", "kubeadmConfigSpec", "preKubeadmCommands")
		Expect(c.Create(ctx, template)).To(Succeed())
		c.expectMachines(ctx, 1, func() {
			c.patchClass(ctx, `[{"op":"replace","path":"/spec/controlPlane/templateRef/name","value":"foo-2"}]`)
			Eventually(func(g Gomega) {
				g.Expect(c.controlPlane(g, ctx).Spec.KubeadmConfigSpec.PreKubeadmCommands).To(Equal(commands))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		}, func() { c.topologySettled(ctx, counts{1, 1, 1}, version) })
	}, NodeTimeout(rolledOut+clusterUp))

	It("has no writes when nothing changes", Label("slow"), func(ctx SpecContext) {
		c.expectMachines(ctx, 0, func() {}, func() { c.expectQuiet(ctx, quiet) })
	}, NodeTimeout(quiet+2*clusterUp))
})

// flavor is what a user requests from clusterctl.
type flavor struct {
	// name of the flavor; the default if empty.
	name string
	shape
	// variables of the flavor, as NAME=value.
	variables []string
}

// generate lets clusterctl render a flavor from the repository that the release program wrote.
func (m *management) generate(ctx context.Context, key client.ObjectKey, want flavor) []*unstructured.Unstructured {
	GinkgoHelper()
	cmd := command(ctx, "tools/clusterctl", "generate", "cluster", key.Name, "--config="+filepath.Join(bin, "release/clusterctl.yaml"),
		"--infrastructure=foo:"+nextRelease, "--flavor="+want.name, "--kubeconfig="+m.kubeconfig, "--target-namespace="+key.Namespace,
		"--kubernetes-version="+want.version, fmt.Sprintf("--control-plane-machine-count=%d", want.controlPlanes),
		fmt.Sprintf("--worker-machine-count=%d", want.workers))
	cmd.Env = append(cmd.Env, want.variables...)
	return decodeObjects(bytes.NewBufferString(output(cmd)))
}

// newFlavor renders a flavor and applies it.
func (m *management) newFlavor(ctx context.Context, key client.ObjectKey, want flavor) *cluster {
	GinkgoHelper()
	m.apply(ctx, m.generate(ctx, key, want))
	return &cluster{management: m, key: key, kubeconfig: filepath.Join(suiteDir, key.Namespace+"-"+key.Name+".kubeconfig")}
}

// counts are the numbers of a cluster's Machines.
type counts struct{ controlPlanes, pool, deployment int }

// topologySettled waits until the topology is reconciled and each part of the cluster has exactly
// its Machines, all with that version, available and up to date.
func (c *cluster) topologySettled(ctx context.Context, want counts, version string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var now clusterv1.Cluster
		g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		reconciled := expectCondition(g, now.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition, metav1.ConditionTrue)
		g.Expect(reconciled.ObservedGeneration).To(Equal(now.Generation))
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterAvailableCondition, metav1.ConditionTrue)
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterRollingOutCondition, metav1.ConditionFalse)
		var found counts
		for _, machine := range c.machines(g, ctx) {
			g.Expect(machine.DeletionTimestamp).To(BeNil(), "Machine %s is being deleted", machine.Name)
			g.Expect(machine.Spec.Version).To(Equal(version), "version of Machine %s", machine.Name)
			expectCondition(g, machine.Status.Conditions, clusterv1.MachineAvailableCondition, metav1.ConditionTrue)
			found.add(machine)
		}
		g.Expect(found).To(Equal(want), "Machines")
		object := c.controlPlane(g, ctx)
		g.Expect(object.Spec.Version).To(Equal(version), "version of the control plane")
		g.Expect(object.Status.ObservedGeneration).To(Equal(object.Generation))
		g.Expect(object.Status.UpToDateReplicas).To(HaveValue(BeEquivalentTo(want.controlPlanes)))
		pool := c.classPool(g, ctx)
		g.Expect(pool.Status.ObservedGeneration).To(Equal(pool.Generation))
		g.Expect(pool.Status.UpdatedReplicas).To(HaveValue(BeEquivalentTo(want.pool)))
		deployment := c.deployment(g, ctx)
		g.Expect(deployment.Status.ObservedGeneration).To(Equal(deployment.Generation))
		g.Expect(ptr.Deref(deployment.Status.UpToDateReplicas, 0)).To(BeEquivalentTo(want.deployment))
	}).WithContext(ctx).WithTimeout(rolledOut).Should(Succeed(), "the cluster does not settle at %+v of %s", want, version)
}

// add counts a Machine.
func (c *counts) add(machine clusterv1.Machine) {
	_, pool := machine.Labels[clusterv1.MachinePoolNameLabel]
	switch _, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]; {
	case controlPlane:
		c.controlPlanes++
	case pool:
		c.pool++
	default:
		c.deployment++
	}
}

// machines returns all Machines of the cluster.
func (c *cluster) machines(g Gomega, ctx context.Context) []clusterv1.Machine {
	var list clusterv1.MachineList
	g.Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name})).To(Succeed())
	return list.Items
}

// classPool returns the FooMachinePool, whose name Cluster API chose.
func (c *cluster) classPool(g Gomega, ctx context.Context) *infrav1.FooMachinePool {
	var owner clusterv1.MachinePool
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-workers"}, &owner)).To(Succeed())
	object := &infrav1.FooMachinePool{}
	name := owner.Spec.Template.Spec.InfrastructureRef.Name
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: name}, object)).To(Succeed())
	return object
}

// deployment returns the MachineDeployment of the cluster.
func (c *cluster) deployment(g Gomega, ctx context.Context) *clusterv1.MachineDeployment {
	object := &clusterv1.MachineDeployment{}
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-deployment"}, object)).To(Succeed())
	return object
}

// templateOf returns the name of the template of the MachineDeployment's Machines.
func (c *cluster) templateOf(g Gomega, ctx context.Context) string {
	return c.deployment(g, ctx).Spec.Template.Spec.InfrastructureRef.Name
}

// expectMachines expects that a change creates exactly this many Machines until everything has
// settled. It checks that only after they were created: before, the cluster may still be in its old
// settled state.
func (c *cluster) expectMachines(ctx context.Context, made int, change, settled func()) {
	GinkgoHelper()
	before := uidsOf(c.machines(Default, ctx))
	var mu sync.Mutex
	seen := sets.New[types.UID]()
	stop := repeat(ctx, interval, func(ctx context.Context) error {
		var list clusterv1.MachineList
		err := c.List(ctx, &list, client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name})
		mu.Lock()
		defer mu.Unlock()
		seen = seen.Union(uidsOf(list.Items))
		return err
	})
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return seen.Difference(before).Len()
	}
	change()
	Eventually(count).WithContext(ctx).WithTimeout(rolledOut).Should(BeNumerically(">=", made), "created Machines")
	settled()
	stop()
	Expect(seen.Union(uidsOf(c.machines(Default, ctx))).Difference(before)).To(HaveLen(made), "created Machines")
}

// watchUpgrade watches whether the workers are given a version that the control plane has not
// reached. The returned function stops the watch and returns the violations.
func (c *cluster) watchUpgrade(ctx context.Context, version string) func() []string {
	var mu sync.Mutex
	disorder := sets.New[string]()
	stop := repeat(ctx, interval, func(ctx context.Context) error {
		name := func(part string) client.ObjectKey {
			return client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + part}
		}
		var pool clusterv1.MachinePool
		var deployment clusterv1.MachineDeployment
		var controlPlane controlplanev1.FooControlPlane
		// Workers are read first: the control plane must already have reached the version that they
		// are given.
		err := errors.Join(c.Get(ctx, name("-workers"), &pool), c.Get(ctx, name("-deployment"), &deployment), c.Get(ctx, name("-control-plane"), &controlPlane))
		if err != nil {
			return err
		}
		reached := controlPlane.Status.Version
		mu.Lock()
		defer mu.Unlock()
		for name, asked := range map[string]string{"pool": pool.Spec.Template.Spec.Version, "deployment": deployment.Spec.Template.Spec.Version} {
			if asked == version && reached != version {
				disorder.Insert(fmt.Sprintf("the %s was given %s while the control plane has %s", name, asked, reached))
			}
		}
		return nil
	})
	return func() []string {
		stop()
		mu.Lock()
		defer mu.Unlock()
		return sets.List(disorder)
	}
}

// patchCluster changes the Cluster with a JSON patch, as kubectl patch does.
func (c *cluster) patchCluster(ctx context.Context, patch string) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", "cluster", c.key.Name, "--type=json", "--patch="+patch)
}

// patchClass changes the ClusterClass with a JSON patch, as kubectl patch does.
func (c *cluster) patchClass(ctx context.Context, patch string) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", "clusterclass", className, "--type=json", "--patch="+patch)
}

// classTemplate returns a copy of a template of the class that can be created under another name.
func (c *cluster) classTemplate(ctx context.Context, kind, name string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(json.Unmarshal([]byte(c.kubectl(ctx, "--namespace="+c.key.Namespace, "get", strings.ToLower(kind), name, "--output=json")), &object.Object)).To(Succeed())
	clean := &unstructured.Unstructured{Object: map[string]any{"spec": object.Object["spec"]}}
	clean.SetGroupVersionKind(object.GroupVersionKind())
	clean.SetNamespace(object.GetNamespace())
	return clean
}

// expectQuiet waits until no object of the cluster is written for a while; a slow machine settles
// late. It detects controllers that keep reacting to their own writes or to each other's. Writes
// with an external cause are allowed: bootstrap tokens expire after 15 minutes, so the bootstrap
// provider renews the token of a pool, in a Secret and a KubeadmConfig.
func (c *cluster) expectQuiet(ctx context.Context, period time.Duration) {
	GinkgoHelper()
	const looks = 4
	resources := c.resources(ctx)
	same := 0
	var last map[string]string
	var written []string
	Eventually(func(g Gomega) {
		now := c.revisions(ctx, resources)
		g.Expect(now).To(HaveKey("Cluster/" + c.key.Name))
		same++
		if !maps.Equal(now, last) {
			same, written = 0, slices.Sorted(maps.Keys(now))
			written = slices.DeleteFunc(written, func(name string) bool { return now[name] == last[name] })
		}
		last = now
		g.Expect(same).To(Equal(looks), "last written: %v", written)
	}).WithContext(ctx).WithTimeout(clusterUp+period).WithPolling(period/looks).Should(Succeed(), "the cluster does not settle")
}

// resources returns the kinds of Cluster API and its providers that the management cluster serves,
// and Secrets.
func (c *cluster) resources(ctx context.Context) string {
	GinkgoHelper()
	kinds := []string{"secrets"}
	for name := range strings.FieldsSeq(c.kubectl(ctx, "api-resources", "--namespaced", "--verbs=list", "--output=name")) {
		if strings.HasSuffix(name, ".cluster.x-k8s.io") {
			kinds = append(kinds, name)
		}
	}
	return strings.Join(kinds, ",")
}

// revisions returns the resource version of each object in the namespace except those with the
// token of a pool.
func (c *cluster) revisions(ctx context.Context, resources string) map[string]string {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	Expect(list.UnmarshalJSON([]byte(c.kubectl(ctx, "--namespace="+c.key.Namespace, "get", resources, "--output=json")))).To(Succeed())
	var pool clusterv1.MachinePool
	Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-workers"}, &pool)).To(Succeed())
	bootstrap := pool.Spec.Template.Spec.Bootstrap
	token := sets.New("Secret/"+ptr.Deref(bootstrap.DataSecretName, ""), "KubeadmConfig/"+bootstrap.ConfigRef.Name)
	found := map[string]string{}
	for _, object := range list.Items {
		if name := object.GetKind() + "/" + object.GetName(); !token.Has(name) {
			found[name] = object.GetResourceVersion()
		}
	}
	return found
}
