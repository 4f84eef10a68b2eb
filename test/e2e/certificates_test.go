//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// injectAnnotation names, as <namespace>/<name>, the Certificate whose authority is injected into
// an object.
const injectAnnotation = "cert-manager.io/inject-ca-from"

// signCertificates does what cert-manager does: it creates the Secret of each Certificate, and
// injects its authority into all objects that request it.
func (p *pods) signCertificates(ctx context.Context) {
	GinkgoHelper()
	authorities := map[string][]byte{}
	for _, certificate := range p.listAll(ctx, schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateList"}) {
		authorities[certificate.GetNamespace()+"/"+certificate.GetName()] = p.sign(ctx, certificate)
	}
	for kind, clients := range map[schema.GroupVersionKind][]string{
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"}:               {"spec", "conversion", "webhook"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfigurationList"}: nil,
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfigurationList"}:   nil,
	} {
		for _, object := range p.listAll(ctx, kind) {
			if authority, asks := authorities[object.GetAnnotations()[injectAnnotation]]; asks {
				p.inject(ctx, object, authority, clients)
			}
		}
	}
}

func (p *pods) listAll(ctx context.Context, kind schema.GroupVersionKind) []unstructured.Unstructured {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	Expect(p.List(ctx, list)).To(Succeed())
	return list.Items
}

// sign creates the Secret of a Certificate unless it exists, and returns its authority.
func (p *pods) sign(ctx context.Context, certificate unstructured.Unstructured) []byte {
	GinkgoHelper()
	name, _, err := unstructured.NestedString(certificate.Object, "spec", "secretName")
	Expect(err).NotTo(HaveOccurred())
	hosts, _, err := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
	Expect(err).NotTo(HaveOccurred())
	Expect(hosts).NotTo(BeEmpty())
	cert, key, err := certutil.GenerateSelfSignedCertKey(hosts[0], nil, hosts[1:])
	Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: certificate.GetNamespace(), Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key, corev1.ServiceAccountRootCAKey: cert},
	}
	err = p.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		err = p.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	}
	Expect(err).NotTo(HaveOccurred())
	return secret.Data[corev1.ServiceAccountRootCAKey]
}

// inject sets the authority in each client configuration of an object: the one at a path, or those
// of its webhooks.
func (p *pods) inject(ctx context.Context, object unstructured.Unstructured, authority []byte, path []string) {
	GinkgoHelper()
	bundle := base64.StdEncoding.EncodeToString(authority)
	before := object.DeepCopy()
	if path != nil {
		Expect(unstructured.SetNestedField(object.Object, bundle, append(path, "clientConfig", "caBundle")...)).To(Succeed())
	} else {
		webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		Expect(err).NotTo(HaveOccurred())
		for _, webhook := range webhooks {
			fields, ok := webhook.(map[string]any)
			Expect(ok).To(BeTrue())
			Expect(unstructured.SetNestedField(fields, bundle, "clientConfig", "caBundle")).To(Succeed())
		}
		Expect(unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")).To(Succeed())
	}
	Expect(p.Patch(ctx, &object, client.MergeFrom(before))).To(Succeed())
}
