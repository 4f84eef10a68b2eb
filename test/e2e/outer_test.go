//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

const (
	// outerType is the type of instances that have room for several machines.
	outerType = "outer"
	// machinesNamespace is the tenant in config/kubernetes-cloud.
	machinesNamespace = "foo-machines"
	// identitiesNamespace has the Secrets of identities.
	identitiesNamespace = "infrastructure-foo-system"
	// outerIdentity is the identity for that tenant.
	outerIdentity = "outer"
	// instanceLabel and instanceAnnotation are on Pods that are machines.
	instanceLabel      = "foocloud.cluster.x-k8s.io/kind"
	instanceAnnotation = "foocloud.cluster.x-k8s.io/instance"
)

// outer is a Foo cluster whose Pods are machines of other clusters.
type outer struct{ *cluster }

// newOuter creates the outer cluster with 3 workers in as many zones, and sets it up as
// docs/kubernetes-cloud.md describes.
func (m *management) newOuter(ctx context.Context, namespace string) *outer {
	GinkgoHelper()
	m.namespace(ctx, namespace)
	o := &outer{m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "outer"},
		shape{controlPlanes: 1, workers: 3, version: currentVersion, workerType: outerType})}
	o.available(ctx)
	o.nodesReady(ctx, 1, 3)
	Expect(o.labelZones(ctx)).To(Succeed())
	for _, version := range []string{previousVersion, currentVersion} {
		load := command(ctx, "foocloud", "image", "load", filepath.Join(bin, "node-images/images", "node-"+version+"-"+lastRelease+".tar"))
		load.Env = append(load.Env, m.cloudEnv()...)
		output(load)
	}
	o.on(ctx, "apply", "--kustomize="+o.tenant())
	o.pullImages(ctx)
	o.identify(ctx)
	repeat(context.WithoutCancel(ctx), interval, func(ctx context.Context) error {
		return errors.Join(o.labelZones(ctx), o.assignAddresses(ctx))
	})
	return o
}

// labelZones does what a cloud controller manager does: it labels each worker with its zone.
func (o *outer) labelZones(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := o.workload.List(ctx, &nodes); err != nil {
		return err
	}
	for _, node := range workersOf(nodes.Items) {
		zone, _, _ := strings.Cut(strings.TrimPrefix(node.Spec.ProviderID, "foo:///"), "/")
		if zone == "" || node.Labels[corev1.LabelTopologyZone] == zone {
			continue
		}
		before := node.DeepCopy()
		node.Labels[corev1.LabelTopologyZone] = zone
		if err := o.workload.Patch(ctx, &node, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}

// tenant returns a copy of the tenant in config/kubernetes-cloud with a catalog of its own.
func (o *outer) tenant() string {
	GinkgoHelper()
	folder := filepath.Join(suiteDir, "tenant")
	Expect(os.CopyFS(folder, os.DirFS(filepath.Join(bin, "../config/kubernetes-cloud")))).To(Succeed())
	images := ""
	for _, version := range []string{previousVersion, currentVersion} {
		images += fmt.Sprintf("    - {kubernetesVersion: %s, image: %q}\n", version, nodeImage(version))
	}
	Expect(os.WriteFile(filepath.Join(folder, "catalog.yaml"), []byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: foo-cloud
  namespace: `+machinesNamespace+`
data:
  cloud.yaml: |
    instanceTypes:
    - {name: small, cpus: 2, memory: 2Gi, requests: {cpu: 100m, memory: 300Mi}}
    services: {type: LoadBalancer}
    images:
`+images), 0o600)).To(Succeed())
	return folder
}

func nodeImage(version string) string {
	return "ghcr.io/capfoo/cluster-api-provider-foo/node:" + version + "-" + lastRelease
}

// pullImages lets each worker pull the images of nodes, which the local cloud has on its disk as well.
func (o *outer) pullImages(ctx context.Context) {
	GinkgoHelper()
	labels := map[string]string{"app": "images"}
	pulled := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "images"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: pauseImage}}},
		}},
	}
	for index, version := range []string{previousVersion, currentVersion} {
		pulled.Spec.Template.Spec.InitContainers = append(pulled.Spec.Template.Spec.InitContainers, corev1.Container{
			Name: fmt.Sprintf("version-%d", index), Image: nodeImage(version), Command: []string{"/opt/foo/bin/foonode", "version"},
		})
	}
	Expect(o.workload.Create(ctx, pulled)).To(Succeed())
	o.on(ctx, "rollout", "status", "daemonset/images", "--timeout="+clusterUp.String())
}

// identify creates the identity with which the manager uses the outer cluster.
func (o *outer) identify(ctx context.Context) {
	GinkgoHelper()
	o.storeToken(ctx, o.management)
	account := o.account(ctx)
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	identity := &infrav1.FooClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: outerIdentity}, Spec: infrav1.FooClusterIdentitySpec{
		Cloud: infrav1.CloudKubernetes, Endpoint: config.Host, CABundle: account.Data["ca.crt"], Tenant: machinesNamespace,
		CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: identitiesNamespace, Name: outerIdentity},
		AllowedNamespaces: infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{}},
	}}
	Expect(o.Create(ctx, identity)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(o.Get(ctx, client.ObjectKeyFromObject(identity), identity)).To(Succeed())
		expectCondition(g, identity.Status.Conditions, infrav1.FooClusterIdentityReadyCondition, metav1.ConditionTrue)
	}).WithContext(ctx).Should(Succeed())
}

// storeToken creates the Secret of the identity in a management cluster. A move takes it along only
// from a management cluster in which clusterctl itself has installed Foo.
func (o *outer) storeToken(ctx context.Context, m *management) {
	GinkgoHelper()
	Expect(client.IgnoreAlreadyExists(m.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: identitiesNamespace}}))).To(Succeed())
	Expect(m.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: identitiesNamespace, Name: outerIdentity}, Type: infrav1.FooClusterIdentitySecretType,
		Data: map[string][]byte{infrav1.FooClusterIdentityTokenKey: o.account(ctx).Data["token"]},
	})).To(Succeed())
}

// account returns the Secret with the token of the tenant's service account.
func (o *outer) account(ctx context.Context) *corev1.Secret {
	GinkgoHelper()
	var account corev1.Secret
	Eventually(func(g Gomega) {
		g.Expect(o.workload.Get(ctx, client.ObjectKey{Namespace: machinesNamespace, Name: "foo-token"}, &account)).To(Succeed())
		g.Expect(account.Data).To(HaveKey("token"))
	}).WithContext(ctx).Should(Succeed(), "the service account has no token")
	return &account
}

// assignAddresses does what a controller for Services of type LoadBalancer does where there is no
// provider of load balancers: it gives each the address of a node, on which kube-proxy then accepts
// connections. This machine cannot reach the other addresses of Services.
func (o *outer) assignAddresses(ctx context.Context) error {
	var services corev1.ServiceList
	if err := o.workload.List(ctx, &services, client.InNamespace(machinesNamespace)); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := o.workload.List(ctx, &nodes); err != nil {
		return err
	}
	var used []string
	for _, service := range services.Items {
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			used = append(used, ingress.IP)
		}
	}
	for i := range services.Items {
		service := &services.Items[i]
		if service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(service.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		for _, node := range nodes.Items {
			for _, address := range node.Status.Addresses {
				// The port of the control plane is its own.
				if address.Type != corev1.NodeInternalIP || isControlPlane(node) || slices.Contains(used, address.Address) {
					continue
				}
				service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address.Address}}
				return o.workload.Status().Update(ctx, service)
			}
		}
	}
	return nil
}

// machinePods returns the Pods that are machines.
func (o *outer) machinePods(g Gomega, ctx context.Context) []corev1.Pod {
	var list corev1.PodList
	g.Expect(o.workload.List(ctx, &list, client.InNamespace(machinesNamespace), client.MatchingLabels{instanceLabel: "instance"})).To(Succeed())
	return list.Items
}

// instanceIn returns the instance that a Pod is.
func instanceIn(g Gomega, pod *corev1.Pod) instance {
	one := instance{}
	g.Expect(json.Unmarshal([]byte(pod.Annotations[instanceAnnotation]), &one)).To(Succeed())
	return one
}

// instancesInCloud returns all instances of the cloud that the cluster's machines are in.
func (c *cluster) instancesInCloud(g Gomega, ctx context.Context) []instance {
	if c.outer == nil {
		return foocloud[[]instance](ctx, c.management, "instances")
	}
	var found []instance
	for _, pod := range c.outer.machinePods(g, ctx) {
		one := instanceIn(g, &pod)
		// Where it really is, whatever was asked for. Kubernetes copies the label from the Node.
		one.Zone = pod.Labels[corev1.LabelTopologyZone]
		found = append(found, one)
	}
	return found
}

// podOf returns the Pod that is the machine of a Node.
func (o *outer) podOf(ctx context.Context, node corev1.Node) *corev1.Pod {
	GinkgoHelper()
	pods := o.machinePods(Default, ctx)
	index := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return instanceIn(Default, &pod).ProviderID == node.Spec.ProviderID })
	Expect(index).To(BeNumerically(">=", 0), "no Pod is the machine of Node %s", node.Name)
	return &pods[index]
}

// drainable returns a node that has machines, but not the address of their API server.
func (o *outer) drainable(ctx context.Context) string {
	GinkgoHelper()
	var services corev1.ServiceList
	Expect(o.workload.List(ctx, &services, client.InNamespace(machinesNamespace))).To(Succeed())
	var reserved []string
	for _, service := range services.Items {
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			reserved = append(reserved, ingress.IP)
		}
	}
	for _, pod := range o.machinePods(Default, ctx) {
		if pod.Spec.NodeName != "" && !slices.Contains(reserved, pod.Status.HostIP) {
			return pod.Spec.NodeName
		}
	}
	Fail("all machines are on nodes with the address of an API server")
	return ""
}

// instanceOf returns the instance of the local cloud that a node of the outer cluster is.
func (o *outer) instanceOf(ctx context.Context, node string) string {
	GinkgoHelper()
	var found corev1.Node
	Expect(o.workload.Get(ctx, client.ObjectKey{Name: node}, &found)).To(Succeed())
	return filepath.Base(found.Spec.ProviderID)
}

// podsOn returns the machines on a node of the outer cluster.
func (o *outer) podsOn(ctx context.Context, node string) []corev1.Pod {
	GinkgoHelper()
	return slices.DeleteFunc(o.machinePods(Default, ctx), func(pod corev1.Pod) bool { return pod.Spec.NodeName != node })
}

// lose takes the machine of a Node away without asking Cluster API.
func (c *cluster) lose(ctx context.Context, node corev1.Node) {
	GinkgoHelper()
	if c.outer == nil {
		c.deleteInstance(ctx, filepath.Base(node.Spec.ProviderID))
		return
	}
	c.outer.on(ctx, "--namespace="+machinesNamespace, "delete", "pod", c.outer.podOf(ctx, node).Name, "--force", "--grace-period=0")
}

// show adds the outer cluster to the report of a story that fails.
func (o *outer) show(ctx context.Context) {
	report := func(title string, args ...string) {
		AddReportEntry("outer cluster: "+title, ReportEntryVisibilityFailureOrVerbose,
			"\n"+o.said(ctx, kubectl(), append([]string{"--kubeconfig=" + o.kubeconfig, "--namespace=" + machinesNamespace}, args...)...))
	}
	report("objects", "get", "pods,services,secrets,poddisruptionbudgets", "--output=wide")
	report("events", "get", "events", "--sort-by=.metadata.creationTimestamp")
	var list corev1.PodList
	if err := o.workload.List(ctx, &list, client.InNamespace(machinesNamespace)); err != nil {
		AddReportEntry("outer cluster: "+err.Error(), ReportEntryVisibilityFailureOrVerbose)
	}
	for _, pod := range list.Items {
		report("console of "+pod.Name, "logs", pod.Name, "--tail=40")
		report("kubelet of "+pod.Name, "exec", pod.Name, "--", "tail", "--lines=20", "/var/log/kubelet.log")
	}
}
