// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestReportedVersions(t *testing.T) {
	for status, ok := range map[string]bool{"v1.31.0": true, "1.31.0": true, "1.31": true, "1.30": false, "": false} {
		for field, value := range map[string]any{"version": status, "versions": []any{map[string]any{"version": status}}} {
			t.Run(field+" "+status, func(t *testing.T) {
				object := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "demo.example.com/v1", "kind": "DemoControlPlane", "metadata": map[string]any{"name": "demo"},
					"spec": map[string]any{"version": "v1.31.0"}, "status": map[string]any{field: value},
				}}
				s := &story{
					Client: fake.NewClientBuilder().WithObjects(object).Build(), ctx: t.Context(), checker: &Checker{Config: &Config{KubernetesVersion: "v1.36.3"}},
				}
				NewWithT(t).Expect(s.reportsVersion(object, "status-version") == nil).To(Equal(ok))
			})
		}
	}
}

func TestEndpointInTheKubeconfig(t *testing.T) {
	const cluster, own = "127.0.0.1:1", "10.0.0.5:6443"
	for name, test := range map[string]struct {
		features     []string
		provided     map[string]any
		server, want string
	}{
		"of the Cluster":                 {nil, nil, cluster, ""},
		"of the control plane":           {[]string{endpointFeature}, map[string]any{"host": "10.0.0.5", "port": int64(6443)}, own, ""},
		"not of the control plane":       {[]string{endpointFeature}, map[string]any{"host": "10.0.0.5", "port": int64(6443)}, cluster, own},
		"of the Cluster, as it has none": {[]string{endpointFeature}, nil, cluster, ""},
		"of nobody":                      {[]string{endpointFeature}, nil, own, cluster},
		"not of the Cluster":             {nil, map[string]any{"host": "10.0.0.5", "port": int64(6443)}, own, cluster},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "demo.example.com/v1", "kind": "DemoControlPlane", "metadata": map[string]any{"namespace": "demo", "name": "demo"},
				"spec": map[string]any{"controlPlaneEndpoint": test.provided},
			}}
			config := clientcmdapi.NewConfig()
			config.Clusters["c"], config.Contexts["c"] = &clientcmdapi.Cluster{Server: "https://" + test.server}, &clientcmdapi.Context{Cluster: "c"}
			config.CurrentContext = "c"
			kubeconfig, err := clientcmd.Write(*config)
			g.Expect(err).NotTo(HaveOccurred())
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "demo-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "demo"}},
				Type:       clusterv1.ClusterSecretType, Data: map[string][]byte{"value": kubeconfig},
			}
			s := &story{
				Client: fake.NewClientBuilder().WithObjects(object, secret).Build(), ctx: t.Context(), namespace: "demo",
				checker: &Checker{Config: &Config{Kinds: map[Role]*Kind{ControlPlane: {Features: test.features}}}},
				cluster: &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: standInHost, Port: standInPort}}},
			}
			err = s.checkKubeconfig(object)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring("the endpoint of the Cluster is \"https://" + test.want)))
			}
		})
	}
}

func TestOwnersOfTheTemplate(t *testing.T) {
	for owner, ok := range map[string]bool{"cluster": true, "control-plane": true, "somebody": false, "": false} {
		t.Run(owner, func(t *testing.T) {
			g := NewWithT(t)
			s := &story{ctx: t.Context(), namespace: "demo", cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "cluster"}}}
			template := s.standIn(standInMachine + "Template")
			if owner != "" {
				template.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "demo.example.com/v1", Kind: "Demo", Name: "demo", UID: types.UID(owner)}})
			}
			s.Client = fake.NewClientBuilder().WithObjects(template).Build()
			controlPlane := &unstructured.Unstructured{}
			controlPlane.SetUID("control-plane")
			g.Expect(s.checkLinkOfTemplate(controlPlane) == nil).To(Equal(ok))
		})
	}
}

// A Machine may go between two looks.
func TestFirstMachine(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	s := &story{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), ctx: t.Context(), namespace: "demo"}
	_, err := s.firstMachine()
	g.Expect(err).To(MatchError("it has created no Machine"))
	g.Expect(s.Create(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "m0"}})).To(Succeed())
	g.Expect(s.firstMachine()).To(HaveField("Name", "m0"))
}
