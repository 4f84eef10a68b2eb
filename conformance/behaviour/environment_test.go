// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestVersionOfAKind(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Demo"}
	for label, want := range map[string]string{
		"v1":               "v1",
		"v1beta1_v1beta2":  "v1beta2",
		"v1beta2_v1beta1":  "v1beta2",
		"v1beta9_v1beta10": "v1beta10",
		"v1_v1beta1":       "v1",
	} {
		t.Run(label, func(t *testing.T) {
			g := NewWithT(t)
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"cluster.x-k8s.io/v1beta2": label}}}
			e := &Environment{crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{kind: crd}}
			g.Expect(e.version(kind, "v1beta2")).To(Equal(kind.WithVersion(want)))
		})
	}
}
