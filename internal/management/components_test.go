// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	certutil "k8s.io/client-go/util/cert"
)

const components = `
apiVersion: v1
kind: Namespace
metadata: {name: some-system}
---
# nothing but a comment
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: some-manager, namespace: some-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: some-manager, namespace: some-system}
---
apiVersion: v1
kind: Service
metadata: {name: webhook-service, namespace: some-system}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: some-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: converted}
spec:
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: webhook-service, namespace: some-system, path: /convert}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plain}
spec: {group: example.com}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks:
- {name: one, failurePolicy: Fail, clientConfig: {service: {name: webhook-service, namespace: some-system, path: /one}}}
- {name: two, clientConfig: {service: {name: webhook-service, namespace: some-system, path: /two}}}
- {name: elsewhere, clientConfig: {url: "https://example.com"}}
`

func read(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "components.yaml")
	g.Expect(os.WriteFile(path, []byte(components), 0o600)).To(Succeed())
	objects, err := readComponents(path)
	g.Expect(err).NotTo(HaveOccurred())
	return objects
}

func decode(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	byName := map[string]*unstructured.Unstructured{}
	for _, object := range read(t) {
		byName[object.GetKind()+"/"+object.GetName()] = object
	}
	return byName
}

func TestComponentsForPodsAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	objects := read(t)
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	g.Expect(kinds).To(Equal([]string{
		"Namespace", "ServiceAccount", "CustomResourceDefinition", "CustomResourceDefinition", "ValidatingWebhookConfiguration",
	}))
	g.Expect(serviceAccountUser(objects)).To(Equal("system:serviceaccount:some-system:some-manager"))
	_, err := serviceAccountUser(objects[:1])
	g.Expect(err).To(MatchError(ContainSubstring("no ServiceAccount")))
}

func TestWebhooksAreRedirected(t *testing.T) {
	g := NewWithT(t)
	objects := decode(t)
	server := webhookServer{url: "https://127.0.0.1:9443", ca: []byte("authority")}
	bundle := base64.StdEncoding.EncodeToString([]byte("authority"))
	counts := map[string]int{}
	for name, object := range objects {
		count, err := server.redirect(object)
		g.Expect(err).NotTo(HaveOccurred())
		counts[name] = count
	}
	g.Expect(counts).To(And(
		HaveKeyWithValue("CustomResourceDefinition/converted", 1),
		HaveKeyWithValue("CustomResourceDefinition/plain", 0),
		HaveKeyWithValue("ValidatingWebhookConfiguration/validating", 2),
		HaveKeyWithValue("Namespace/some-system", 0),
	))

	client, _, err := unstructured.NestedMap(objects["CustomResourceDefinition/converted"].Object, "spec", "conversion", "webhook", "clientConfig")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client).To(Equal(map[string]any{"url": "https://127.0.0.1:9443/convert", "caBundle": bundle}))

	webhooks, _, err := unstructured.NestedSlice(objects["ValidatingWebhookConfiguration/validating"].Object, "webhooks")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(webhooks).To(Equal([]any{
		map[string]any{"name": "one", "failurePolicy": "Fail", "clientConfig": map[string]any{"url": "https://127.0.0.1:9443/one", "caBundle": bundle}},
		map[string]any{"name": "two", "clientConfig": map[string]any{"url": "https://127.0.0.1:9443/two", "caBundle": bundle}},
		map[string]any{"name": "elsewhere", "clientConfig": map[string]any{"url": "https://example.com"}},
	}))
}

func TestMalformedWebhooksAreAnError(t *testing.T) {
	g := NewWithT(t)
	object := &unstructured.Unstructured{Object: map[string]any{"kind": "MutatingWebhookConfiguration", "webhooks": []any{"text"}}}
	_, err := webhookServer{}.redirect(object)
	g.Expect(err).To(MatchError(ContainSubstring("a webhook is a string")))
}

func TestCertificates(t *testing.T) {
	g := NewWithT(t)
	ca, err := newAuthority("test")
	g.Expect(err).NotTo(HaveOccurred())
	id, err := ca.client("someone", "system:masters")
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	g.Expect(id.write(dir, "someone")).To(Succeed())
	g.Expect(filepath.Join(dir, "someone.key")).To(WithTransform(mode, Equal("-rw-------")))
	issued, err := certutil.ParseCertsPEM(id.cert)
	g.Expect(err).NotTo(HaveOccurred())
	for _, cert := range append(issued, ca.cert) {
		g.Expect(cert.NotBefore).To(BeTemporally("<=", time.Now().Add(-clockSkew)), "the clock may be set back")
	}
}

func mode(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return info.Mode().String(), nil
}

func TestClusterctlMovesObjectsOfInstalledKinds(t *testing.T) {
	g := NewWithT(t)
	crd := decode(t)["CustomResourceDefinition/plain"]
	markMovable(crd)
	g.Expect(crd.GetLabels()).To(HaveKeyWithValue("clusterctl.cluster.x-k8s.io", ""))
}
