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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/secret"
)

// The Secret is checked with the library that the API server and the controller manager read it
// with.
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
	connections := NewConnections(nil, secrets, secrets, 0)

	tokens := map[string]bool{}
	for range 2 {
		token, err := connections.CreateToken(context.Background(), testCluster)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(token).To(MatchRegexp(bootstrapapi.BootstrapTokenPattern))
		tokens[token] = true
	}
	g.Expect(tokens).To(HaveLen(2), "each call creates a token")
	g.Expect(made).To(HaveLen(2))
	for name, found := range made {
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

func TestATokenIsKept(t *testing.T) {
	const token = "abcdef.0123456789abcdef"
	now := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	lasting := tokenSecret(token, now)
	delete(lasting.Data, bootstrapapi.BootstrapTokenExpirationKey)
	for name, test := range map[string]struct {
		before *corev1.Secret
		// left is how long the token is valid afterwards; zero means that it does not expire.
		left time.Duration
	}{
		"deleted":            {nil, tokenLife},
		"expired":            {tokenSecret(token, now.Add(-time.Hour)), tokenLife},
		"expires soon":       {tokenSecret(token, now.Add(-10*time.Minute)), tokenLife},
		"expires much later": {tokenSecret(token, now.Add(-5*time.Minute)), 10 * time.Minute},
		"does not expire":    {lasting, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			builder := fake.NewClientBuilder()
			if test.before != nil {
				builder.WithObjects(test.before)
			}
			c := builder.Build()
			g.Expect(keepToken(t.Context(), c, token, now)).To(Succeed())
			found := &corev1.Secret{}
			g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(tokenSecret(token, now)), found)).To(Succeed())
			g.Expect(secretutil.GetData(found, bootstrapapi.BootstrapTokenSecretKey)).To(Equal("0123456789abcdef"))
			left, expired := secretutil.GetExpiration(found, now)
			g.Expect(expired).To(BeFalse())
			g.Expect(left).To(Equal(test.left))
		})
	}
}
