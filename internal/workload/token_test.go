// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	secretutil "k8s.io/cluster-bootstrap/util/secrets"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/secret"
)

// The library by which the API server and the controller manager read the Secret finds in it what they want.
func TestAMachineJoinsByTheToken(t *testing.T) {
	g := NewWithT(t)
	made := map[string]*corev1.Secret{}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		g.Expect(request.Method + request.URL.Path).To(Equal("POST/api/v1/namespaces/kube-system/secrets"))
		body, err := io.ReadAll(request.Body)
		g.Expect(err).NotTo(HaveOccurred())
		decoded := &corev1.Secret{}
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, decoded)
		g.Expect(err).NotTo(HaveOccurred())
		made[decoded.Name] = decoded
		response.Header().Set("Content-Type", "application/json")
		response.WriteHeader(http.StatusCreated)
		decoded.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		g.Expect(json.NewEncoder(response).Encode(decoded)).To(Succeed())
	}))
	t.Cleanup(server.Close)
	secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))).Build()
	connections, err := NewConnections(nil, secrets, secrets, 0)
	g.Expect(err).NotTo(HaveOccurred())

	tokens := map[string]bool{}
	for range 2 {
		token, err := connections.CreateToken(context.Background(), testCluster)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(token).To(MatchRegexp(bootstrapapi.BootstrapTokenPattern))
		tokens[token] = true
	}
	g.Expect(tokens).To(HaveLen(2), "each machine has its own")
	g.Expect(made).To(HaveLen(2))
	for name, found := range made {
		found.Data = map[string][]byte{}
		for key, value := range found.StringData { // As the API server does.
			found.Data[key] = []byte(value)
		}
		g.Expect(found.Type).To(Equal(bootstrapapi.SecretTypeBootstrapToken))
		id, valid := secretutil.ParseName(name)
		g.Expect(valid).To(BeTrue())
		g.Expect(tokens).To(HaveKey(id + "." + secretutil.GetData(found, bootstrapapi.BootstrapTokenSecretKey)))
		left, expired := secretutil.GetExpiration(found, time.Now())
		g.Expect(expired).To(BeFalse())
		g.Expect(left).To(And(BeNumerically(">", 14*time.Minute), BeNumerically("<=", 15*time.Minute)))
		g.Expect(secretutil.GetGroups(found)).To(ContainElement("system:bootstrappers:kubeadm:default-node-token"))
		for _, usage := range []string{bootstrapapi.BootstrapTokenUsageAuthentication, bootstrapapi.BootstrapTokenUsageSigningKey} {
			g.Expect(secretutil.GetData(found, usage)).To(Equal("true"), usage)
		}
	}
}
