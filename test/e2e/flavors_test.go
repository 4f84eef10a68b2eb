//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flavors are used once like by a user: rendered by clusterctl from a release, applied, and deleted
// with their Cluster. All are made of the same base as the default flavor. The flavors fast, kcp and
// topology have their own stories.
var _ = Describe("A flavor", Label("flavors", needsNextRelease), func() {
	// made creates a cluster, and waits until it is available with all Nodes.
	made := func(ctx context.Context, want flavor) *cluster {
		GinkgoHelper()
		m := sharedManagement(ctx)
		namespace := "flavor-" + want.name
		m.namespace(ctx, namespace)
		if want.name == "external-etcd" {
			want.variables = append(want.variables, "FOO_ETCD_ENDPOINTS=["+m.externalEtcd(ctx, client.ObjectKey{Namespace: namespace, Name: "one"})+"]")
		}
		c := m.newFlavor(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, want)
		c.available(ctx)
		c.nodesReady(ctx, want.controlPlanes, want.workers)
		return c
	}
	small := shape{controlPlanes: 1, workers: 1, version: currentVersion}

	It("machine-deployment comes up with the previous minor version, and is deleted", Label("version", needsAllVersions), func(ctx SpecContext) {
		c := made(ctx, flavor{name: "machine-deployment", shape: shape{controlPlanes: 1, workers: 1, version: previousVersion}})
		deployments := &clusterv1.MachineDeploymentList{}
		Expect(c.List(ctx, deployments, client.InNamespace(c.key.Namespace))).To(Succeed())
		Expect(deployments.Items).To(HaveLen(1))
		for _, node := range c.nodesReady(ctx, 1, 1) {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(previousVersion))
		}
		Expect(c.on(ctx, "version")).To(ContainSubstring("Server Version: " + previousVersion))
		c.controlPlaneReady(ctx, 1)
		c.deleted(ctx)
	}, NodeTimeout(3*clusterUp))

	It("external-etcd comes up with an existing etcd, and is deleted", func(ctx SpecContext) {
		c := made(ctx, flavor{name: "external-etcd", shape: small})
		pods := &corev1.PodList{}
		Expect(c.workload.List(ctx, pods, client.InNamespace("kube-system"), client.MatchingLabels{"component": "etcd"})).To(Succeed())
		Expect(pods.Items).To(BeEmpty(), "the control plane has its own etcd members")
		c.deleted(ctx)
	}, NodeTimeout(3*clusterUp))

	It("v1beta1 comes up, is read in both versions, and is deleted", func(ctx SpecContext) {
		c := made(ctx, flavor{name: "v1beta1", shape: small})
		c.expectBothVersions(ctx)
		c.deleted(ctx)
	}, NodeTimeout(3*clusterUp))

	It("ha comes up in several zones with its health checks, and is deleted", Label("slow"), func(ctx SpecContext) {
		c := made(ctx, flavor{name: "ha", shape: shape{controlPlanes: 3, workers: 3, version: currentVersion}})
		c.controlPlaneReady(ctx, 3)
		zones := sets.New[string]()
		for _, one := range c.pool(Default, ctx).Status.Instances {
			zones.Insert(one.FailureDomain)
		}
		Expect(zones).To(HaveLen(3), "zones of the workers")
		Eventually(func(g Gomega) {
			checks := &clusterv1.MachineHealthCheckList{}
			g.Expect(c.List(ctx, checks, client.InNamespace(c.key.Namespace))).To(Succeed())
			g.Expect(checks.Items).To(HaveLen(2))
			for _, check := range checks.Items {
				g.Expect(check.Status.CurrentHealthy).To(HaveValue(BeEquivalentTo(3)), check.Name)
			}
		}).WithContext(ctx).Should(Succeed())
		c.deleted(ctx)
	}, NodeTimeout(2*rolledOut))
})

// deleted deletes the Cluster, and expects that nothing of it is left.
func (c *cluster) deleted(ctx context.Context) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "delete", "cluster", c.key.Name)
	Eventually(func(g Gomega) {
		g.Expect(c.kubectl(ctx, "--namespace="+c.key.Namespace, "get", kinds("machinedeployments", "foomachinetemplates", "kubeadmconfigtemplates"), "--output=name")).To(BeEmpty())
		g.Expect(c.instancesInCloud(g, ctx)).To(BeEmpty())
	}).WithContext(ctx).WithTimeout(clusterGone).Should(Succeed(), "something of the cluster is left")
}

// expectBothVersions expects that the objects of the cluster are equivalent in v1beta1 and v1beta2.
func (c *cluster) expectBothVersions(ctx context.Context) {
	GinkgoHelper()
	read := func(group, version, kind, name string) *unstructured.Unstructured {
		GinkgoHelper()
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: name}, object)).To(Succeed())
		return object
	}
	field := func(object *unstructured.Unstructured, path ...string) any {
		GinkgoHelper()
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(BeTrue(), "%s in %s has no %v", object.GetKind(), object.GetAPIVersion(), path)
		return value
	}
	const infrastructure, controlPlanes = "infrastructure.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"

	before, now := read(controlPlanes, "v1beta1", "FooControlPlane", "one-control-plane"), read(controlPlanes, "v1beta2", "FooControlPlane", "one-control-plane")
	Expect(field(before, "status", "initialized")).To(Equal(field(now, "status", "initialization", "controlPlaneInitialized")))
	Expect(field(before, "spec", "machineTemplate", "infrastructureRef", "name")).To(Equal(field(now, "spec", "machineTemplate", "spec", "infrastructureRef", "name")))
	Expect(field(before, "status", "updatedReplicas")).To(Equal(field(now, "status", "upToDateReplicas")))

	before, now = read(infrastructure, "v1beta1", "FooCluster", "one"), read(infrastructure, "v1beta2", "FooCluster", "one")
	Expect(field(before, "status", "ready")).To(Equal(field(now, "status", "initialization", "provisioned")))
	Expect(field(before, "spec", "controlPlaneEndpoint")).To(Equal(field(now, "spec", "controlPlaneEndpoint")))

	before, now = read(infrastructure, "v1beta1", "FooMachinePool", "one-workers"), read(infrastructure, "v1beta2", "FooMachinePool", "one-workers")
	Expect(field(before, "status", "ready")).To(Equal(field(now, "status", "initialization", "provisioned")))
	Expect(field(before, "spec", "providerIDList")).To(Equal(field(now, "spec", "providerIDList")))

	for _, machine := range c.fooMachines(Default, ctx) {
		before, now = read(infrastructure, "v1beta1", "FooMachine", machine.Name), read(infrastructure, "v1beta2", "FooMachine", machine.Name)
		Expect(field(before, "status", "ready")).To(Equal(field(now, "status", "initialization", "provisioned")))
		Expect(field(before, "spec", "providerID")).To(Equal(field(now, "spec", "providerID")))
	}
}

// externalEtcd runs an etcd with one member on the host until the end of the story, creates the
// Secrets for a cluster, and returns its URL. Instances reach the host at its address in their
// network.
func (m *management) externalEtcd(ctx context.Context, cluster client.ObjectKey) string {
	GinkgoHelper()
	dir, err := os.MkdirTemp(suiteDir, "etcd-")
	Expect(err).NotTo(HaveOccurred())
	host := hostAddress()
	authority := newAuthority()
	serverCertificate, serverKey := authority.issue("etcd", net.ParseIP(host), net.IPv4(127, 0, 0, 1))
	clientCertificate, clientKey := authority.issue("kube-apiserver-etcd-client")
	for name, content := range map[string][]byte{"ca.crt": authority.pem, "tls.crt": serverCertificate, "tls.key": serverKey} {
		Expect(os.WriteFile(filepath.Join(dir, name), content, 0o600)).To(Succeed())
	}
	for purpose, data := range map[string]map[string][]byte{
		"etcd":                  {"tls.crt": authority.pem},
		"apiserver-etcd-client": {"tls.crt": clientCertificate, "tls.key": clientKey},
	} {
		Expect(m.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name + "-" + purpose,
				Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name}},
			Type: clusterv1.ClusterSecretType, Data: data,
		})).To(Succeed())
	}
	url, peers := "https://"+freeAddress(ctx, host), "http://"+freeAddress(ctx, "127.0.0.1")
	etcd := start(command(context.WithoutCancel(ctx), "kubernetes/"+currentVersion+"/etcd", "--data-dir="+filepath.Join(dir, "data"), "--unsafe-no-fsync",
		"--listen-client-urls="+url, "--advertise-client-urls="+url, "--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers, "--client-cert-auth", "--trusted-ca-file="+filepath.Join(dir, "ca.crt"),
		"--cert-file="+filepath.Join(dir, "tls.crt"), "--key-file="+filepath.Join(dir, "tls.key")))
	DeferCleanup(func(ctx SpecContext) { etcd.interrupt(ctx) }, NodeTimeout(clusterGone))
	return url
}

// freePort returns a port that nothing listens on.
func freePort(ctx context.Context) int32 {
	GinkgoHelper()
	address, err := netip.ParseAddrPort(freeAddress(ctx, ""))
	Expect(err).NotTo(HaveOccurred())
	return int32(address.Port())
}

// freePorts are the ports that freeAddress has returned, because their users may not be listening
// yet.
var freePorts = sets.New[int]()

// freeAddress returns an address of the host with a port that nothing listens on. It returns each
// port only once.
func freeAddress(ctx context.Context, host string) string {
	GinkgoHelper()
	for {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
		Expect(err).NotTo(HaveOccurred())
		Expect(listener.Close()).To(Succeed())
		address, ok := listener.Addr().(*net.TCPAddr)
		Expect(ok).To(BeTrue())
		if !freePorts.Has(address.Port) {
			freePorts.Insert(address.Port)
			return address.String()
		}
	}
}

// hostAddress is the address of the host in the network of the instances.
func hostAddress() string {
	GinkgoHelper()
	bridge, err := net.InterfaceByName(suiteBridge)
	Expect(err).NotTo(HaveOccurred())
	addresses, err := bridge.Addrs()
	Expect(err).NotTo(HaveOccurred())
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	Fail("the host has no address in the network of the instances")
	return ""
}

// authority signs the certificates of an etcd and its clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority() *authority {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "etcd-ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	content, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	Expect(err).NotTo(HaveOccurred())
	certificate, err := x509.ParseCertificate(content)
	Expect(err).NotTo(HaveOccurred())
	return &authority{certificate: certificate, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content})}
}

// issue returns a certificate with its key, both PEM, for a server at the addresses or a client.
func (a *authority) issue(name string, addresses ...net.IP) (certificate, privateKey []byte) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	content, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: addresses,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		// etcd checks its own health as a client.
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, &key.PublicKey, a.key)
	Expect(err).NotTo(HaveOccurred())
	encoded, err := x509.MarshalECPrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}
