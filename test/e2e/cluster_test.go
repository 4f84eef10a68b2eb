//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

const controlPlaneRole = "node-role.kubernetes.io/control-plane"

// shape is the size and version that a user requests of a flavor.
type shape struct {
	controlPlanes, workers int
	version                string
	// controlPlaneType and workerType are instance types; the template's defaults if empty.
	controlPlaneType, workerType string
}

// cluster is a workload cluster and its clients.
type cluster struct {
	*management
	key        client.ObjectKey
	kubeconfig string
	// outer is the cluster whose Pods its machines are; nil if they are instances of the local cloud.
	outer *outer
	// workers is how many workers it has besides its control plane, where settled looks at all Nodes.
	workers int
	// workload is nil until the cluster is available.
	workload client.Client
}

// newCluster renders the flavor fast and applies it with the given changes. Use newFlavor for other
// flavors.
func (m *management) newCluster(ctx context.Context, key client.ObjectKey, want shape, changes ...func(*unstructured.Unstructured)) *cluster {
	GinkgoHelper()
	objects := m.render(ctx, key, want)
	for _, object := range objects {
		for _, change := range changes {
			change(object)
		}
	}
	m.apply(ctx, objects)
	return &cluster{management: m, key: key, kubeconfig: filepath.Join(suiteDir, key.Namespace+"-"+key.Name+".kubeconfig")}
}

// render lets clusterctl render the flavor fast, because stories wait for many clusters and keep
// none.
func (m *management) render(ctx context.Context, key client.ObjectKey, want shape) []*unstructured.Unstructured {
	GinkgoHelper()
	template, err := flavors.Get(flavors.Fast)
	Expect(err).NotTo(HaveOccurred())
	cmd := command(ctx, "tools/clusterctl", "generate", "yaml", "--from=-")
	cmd.Stdin = bytes.NewReader(template)
	cmd.Env = append(cmd.Env, "NAMESPACE="+key.Namespace, "CLUSTER_NAME="+key.Name, "KUBERNETES_VERSION="+want.version,
		"CONTROL_PLANE_MACHINE_COUNT="+strconv.Itoa(want.controlPlanes), "WORKER_MACHINE_COUNT="+strconv.Itoa(want.workers))
	for name, instanceType := range map[string]string{
		"FOO_CONTROL_PLANE_INSTANCE_TYPE": want.controlPlaneType, "FOO_WORKER_INSTANCE_TYPE": want.workerType,
	} {
		if instanceType != "" {
			cmd.Env = append(cmd.Env, name+"="+instanceType)
		}
	}
	return decodeObjects(bytes.NewBufferString(output(cmd)))
}

// decodeObjects reads YAML documents.
func decodeObjects(documents io.Reader) []*unstructured.Unstructured {
	GinkgoHelper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(documents, 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		Expect(err).NotTo(HaveOccurred())
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// commandsBeforeKubeadm makes the control plane run additional commands before kubeadm, after those
// of the template.
func commandsBeforeKubeadm(commands ...string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		GinkgoHelper()
		if object.GetKind() != "FooControlPlane" {
			return
		}
		addCommands(object, commands, "spec", "kubeadmConfigSpec", "preKubeadmCommands")
	}
}

// addCommands appends to a list of commands in an object, and returns the whole list.
func addCommands(object *unstructured.Unstructured, commands []string, path ...string) []string {
	GinkgoHelper()
	there, _, err := unstructured.NestedStringSlice(object.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	all := slices.Concat(there, commands)
	Expect(unstructured.SetNestedStringSlice(object.Object, all, path...)).To(Succeed())
	return all
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

// available waits until the cluster is available, and connects to it with the kubeconfig from
// clusterctl.
func (c *cluster) available(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var now clusterv1.Cluster
		g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterAvailableCondition, metav1.ConditionTrue)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "Cluster %s is not available", c.key)
	content := output(command(ctx, "tools/clusterctl", "get", "kubeconfig", c.key.Name, "--namespace="+c.key.Namespace,
		"--kubeconfig="+c.management.kubeconfig))
	Expect(os.WriteFile(c.kubeconfig, []byte(content), 0o600)).To(Succeed())
	c.workload = newClient(c.kubeconfig)
}

// nodesReady waits until the cluster has the given numbers of Nodes and all are Ready, and returns
// them.
func (c *cluster) nodesReady(ctx context.Context, controlPlanes, workers int) []corev1.Node {
	GinkgoHelper()
	var nodes corev1.NodeList
	Eventually(func(g Gomega) {
		g.Expect(c.workload.List(ctx, &nodes)).To(Succeed())
		found := map[bool]int{}
		for _, node := range nodes.Items {
			_, controlPlane := node.Labels[controlPlaneRole]
			found[controlPlane]++
			g.Expect(nodeReady(node)).To(BeTrue(), "Node %s is not Ready", node.Name)
		}
		g.Expect(found[true]).To(Equal(controlPlanes), "wrong number of control plane Nodes")
		g.Expect(found[false]).To(Equal(workers), "wrong number of worker Nodes")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	return nodes.Items
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// on runs kubectl on the workload cluster and returns what it prints.
func (c *cluster) on(ctx context.Context, args ...string) string {
	GinkgoHelper()
	return output(command(ctx, kubectl(), append([]string{"--kubeconfig=" + c.kubeconfig}, args...)...))
}

func (c *cluster) scaleControlPlane(ctx context.Context, replicas int) {
	GinkgoHelper()
	object := c.anyControlPlane(Default, ctx)
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "scale", strings.ToLower(object.GetKind()), object.GetName(), fmt.Sprintf("--replicas=%d", replicas))
}

func (c *cluster) scaleWorkers(ctx context.Context, replicas int) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "scale", "machinepool", c.key.Name+"-workers", fmt.Sprintf("--replicas=%d", replicas))
}

func (c *cluster) controlPlane(g Gomega, ctx context.Context) *controlplanev1.FooControlPlane {
	object := &controlplanev1.FooControlPlane{}
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-control-plane"}, object)).To(Succeed())
	return object
}

func (c *cluster) pool(g Gomega, ctx context.Context) *infrav1.FooMachinePool {
	object := &infrav1.FooMachinePool{}
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-workers"}, object)).To(Succeed())
	return object
}

// fooMachines returns the FooMachines of the cluster.
func (c *cluster) fooMachines(g Gomega, ctx context.Context) []infrav1.FooMachine {
	var list infrav1.FooMachineList
	g.Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name})).To(Succeed())
	return list.Items
}

// controlPlaneReady waits until all replicas are ready and the counters show it.
func (c *cluster) controlPlaneReady(ctx context.Context, replicas int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := c.controlPlane(g, ctx)
		g.Expect(ptr.Deref(now.Status.Replicas, 0)).To(Equal(replicas), "status.replicas")
		g.Expect(ptr.Deref(now.Status.ReadyReplicas, 0)).To(Equal(replicas), "status.readyReplicas")
		g.Expect(ptr.Deref(now.Status.UpToDateReplicas, 0)).To(Equal(replicas), "status.upToDateReplicas")
		g.Expect(ptr.Deref(now.Status.AvailableReplicas, 0)).To(Equal(replicas), "status.availableReplicas")
		expectCondition(g, now.Status.Conditions, controlplanev1.EtcdClusterHealthyCondition, metav1.ConditionTrue)
		expectCondition(g, now.Status.Conditions, controlplanev1.AvailableCondition, metav1.ConditionTrue)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}

// expectCondition returns the condition, which must have the given status.
func expectCondition(g Gomega, conditions []metav1.Condition, kind string, status metav1.ConditionStatus) *metav1.Condition {
	condition := meta.FindStatusCondition(conditions, kind)
	g.Expect(condition).NotTo(BeNil(), "there is no condition %s", kind)
	g.Expect(condition.Status).To(Equal(status), "%s is %s (%s): %s", kind, condition.Status, condition.Reason, condition.Message)
	return condition
}
