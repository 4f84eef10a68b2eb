//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

func TestManager(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Manager")
}

// The flags are those of a Deployment, except for the cloud: the control plane role needs none.
var _ = Describe("A manager", func() {
	It("does what its flags say", func(ctx SpecContext) {
		SetDefaultEventuallyTimeout(envtestenv.Patience)
		environment, err := envtestenv.Start(ctx)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(environment.Stop()).To(Succeed()) })
		mine, err := environment.CreateNamespace(ctx, "mine")
		Expect(err).NotTo(HaveOccurred())
		other, err := environment.CreateNamespace(ctx, "other")
		Expect(err).NotTo(HaveOccurred())

		health := freeAddress(ctx)
		opts, err := manager.ParseOptions([]string{
			"--kubeconfig=" + kubeconfigFile(environment.Config), "--providers=control-plane", "--namespace=" + mine, "--watch-filter=chosen",
			"--leader-elect", "--leader-elect-resource-name=chosen", "--leader-elect-resource-namespace=" + mine,
			"--health-addr=" + health, "--diagnostics-address=0", "--webhook-port=0", "--foocontrolplane-concurrency=3",
			"--logging-format=json", "--v=0", "--skip-crd-migration-phases=CleanupManagedFields",
		}, feature.MutableGates.DeepCopy())
		Expect(err).NotTo(HaveOccurred())
		running, stop := context.WithCancel(context.Background())
		stopped := make(chan error, 1)
		go func() { stopped <- program.Run(running, opts) }()
		DeferCleanup(stop)

		Eventually(func() (int, error) { return status(ctx, "http://"+health+"/readyz") }).Should(Equal(http.StatusOK))
		lease := &coordinationv1.Lease{}
		Eventually(func() error {
			return environment.Client.Get(ctx, client.ObjectKey{Namespace: mine, Name: "chosen"}, lease)
		}).Should(Succeed())
		Expect(lease.Spec.LeaseDurationSeconds).To(HaveValue(BeEquivalentTo(60)))

		By("reconciling what is in its namespace and has its label")
		chosen := create(ctx, environment, mine, "chosen")
		others := []client.Object{create(ctx, environment, mine, "another"), create(ctx, environment, other, "chosen")}
		finalizers := func(object client.Object) []string {
			Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			return object.GetFinalizers()
		}
		Eventually(finalizers).WithArguments(chosen).ShouldNot(BeEmpty())
		for _, object := range others {
			// There is nothing to wait for when a write must not happen. The allowed write took
			// less time than this.
			Consistently(finalizers, "1s").WithArguments(object).Should(BeEmpty())
		}

		By("sending no file to the server that a kubeconfig names")
		token := filepath.Join(GinkgoT().TempDir(), "token")
		Expect(os.WriteFile(token, []byte("of-the-manager"), 0o600)).To(Succeed())
		sent := make(chan string, 1)
		server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			select {
			case sent <- request.Header.Get("Authorization"):
			default:
			}
			response.WriteHeader(http.StatusNotFound)
		}))
		DeferCleanup(server.Close)
		connectTo(ctx, environment, client.ObjectKey{Namespace: mine, Name: "a-file"}, server.URL, &clientcmdapi.AuthInfo{TokenFile: token})
		connectTo(ctx, environment, client.ObjectKey{Namespace: mine, Name: "a-token"}, server.URL, &clientcmdapi.AuthInfo{Token: "its-own"})
		var first string
		Eventually(sent).Should(Receive(&first))
		Expect(first).To(Equal("Bearer its-own"))

		By("looking at the versions of the kinds of its role")
		observed := func(name string) func() map[string]string {
			return func() map[string]string {
				crd := &apiextensionsv1.CustomResourceDefinition{}
				Expect(environment.Client.Get(ctx, client.ObjectKey{Name: name}, crd)).To(Succeed())
				return crd.Annotations
			}
		}
		Eventually(observed("foocontrolplanes.controlplane.cluster.x-k8s.io")).Should(HaveKey(clusterv1.CRDMigrationObservedGenerationAnnotation))
		Expect(observed("foomachines.infrastructure.cluster.x-k8s.io")()).NotTo(HaveKey(clusterv1.CRDMigrationObservedGenerationAnnotation))

		By("giving back its Lease when it stops")
		stop()
		Eventually(stopped).Should(Receive(BeNil()))
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease)).To(Succeed())
		Expect(lease.Spec.HolderIdentity).To(HaveValue(BeEmpty()))
	})
})

// create creates a FooControlPlane of a Cluster, labelled for a manager.
func create(ctx context.Context, environment *envtestenv.Environment, namespace, filter string) *controlplanev1.FooControlPlane {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: filter, Labels: map[string]string{clusterv1.WatchLabel: filter}}
	cluster := &clusterv1.Cluster{ObjectMeta: meta}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: controlplanev1.GroupVersion.Group, Kind: "FooControlPlane", Name: filter}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooCluster", Name: filter}
	Expect(environment.Client.Create(ctx, cluster.DeepCopy())).To(Succeed())
	Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: meta}
	controlPlane.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cluster, clusterv1.GroupVersion.WithKind("Cluster"))}
	controlPlane.Spec.Version = "v1.36.3"
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooMachineTemplate", Name: "any",
	}
	Expect(environment.Client.Create(ctx, controlPlane)).To(Succeed())
	return controlPlane
}

// connectTo creates an initialized Cluster with a kubeconfig.
func connectTo(ctx context.Context, environment *envtestenv.Environment, key client.ObjectKey, server string, user *clientcmdapi.AuthInfo) {
	GinkgoHelper()
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: server, InsecureSkipTLSVerify: true}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": user},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(environment.Client.Create(ctx, capikubeconfig.GenerateSecretWithOwner(key, content, metav1.OwnerReference{
		APIVersion: "v1", Kind: "Owner", Name: "o", UID: "1",
	}))).To(Succeed())
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clusterv1.WatchLabel: "chosen"},
	}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "example.com", Kind: "Any", Name: "any"}
	cluster.Spec.InfrastructureRef = cluster.Spec.ControlPlaneRef
	Expect(environment.Client.Create(ctx, cluster)).To(Succeed())
	cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: ptr.To(true), ControlPlaneInitialized: ptr.To(true)}
	Expect(environment.Client.Status().Update(ctx, cluster)).To(Succeed())
}

// kubeconfigFile writes a kubeconfig for the API server to a file, and returns its path.
func kubeconfigFile(config *rest.Config) string {
	GinkgoHelper()
	content := clientcmdapi.NewConfig()
	content.Clusters["test"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	content.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	content.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	content.CurrentContext = "test"
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*content, path)).To(Succeed())
	Expect(os.Chmod(path, 0o600)).To(Succeed())
	return path
}

func freeAddress(ctx context.Context) string {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(listener.Close()).To(Succeed()) }()
	return listener.Addr().String()
}

func status(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
