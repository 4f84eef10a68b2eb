// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestProblems(t *testing.T) {
	served := func(name string) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true}
	}
	storage := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1beta2", Served: true, Storage: true}
	for _, test := range []struct {
		name     string
		versions []apiextensionsv1.CustomResourceDefinitionVersion
		stored   []string
		want     []string
	}{
		{"of its own release", []apiextensionsv1.CustomResourceDefinitionVersion{served("v1beta1"), storage}, []string{"v1beta2"}, nil},
		{"with an additional newer version", []apiextensionsv1.CustomResourceDefinitionVersion{storage, served("v1")}, []string{"v1beta1", "v1beta2"}, nil},
		{"older", []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true, Storage: true}}, []string{"v1beta1"},
			[]string{"CRD things.example.org does not serve v1beta2, which this manager needs, but only v1beta1"}},
		{"without the version it needs", []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta2", Storage: true}, served("v1beta1"), served("v1")}, nil,
			[]string{"CRD things.example.org does not serve v1beta2, which this manager needs, but only v1beta1, v1"}},
		{"newer", []apiextensionsv1.CustomResourceDefinitionVersion{served("v1beta2"), {Name: "v1", Served: true, Storage: true}}, []string{"v1beta2", "v1"},
			[]string{"CRD things.example.org stores objects as v1, which this manager cannot convert: it knows only v1beta1, v1beta2"}},
		{"downgraded, with objects of a newer one", []apiextensionsv1.CustomResourceDefinitionVersion{storage, {Name: "v1"}}, []string{"v1beta2", "v1"},
			[]string{"CRD things.example.org stores objects as v1, which this manager cannot convert: it knows only v1beta1, v1beta2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.org"}}
			crd.Spec.Versions, crd.Status.StoredVersions = test.versions, test.stored
			NewWithT(t).Expect(problemsOf(crd, "v1beta2", []string{"v1beta1", "v1beta2"})).To(Equal(test.want))
		})
	}
}

func TestDefinitionsErrorSaysWhatToDo(t *testing.T) {
	err := &DefinitionsError{Problems: []string{"CRD a is not installed", "CRD b is not installed"}}
	NewWithT(t).Expect(err).To(MatchError("CRD a is not installed; CRD b is not installed: install the CRDs and the manager of the same release, " +
		"with clusterctl init or clusterctl upgrade apply; existing objects are not affected meanwhile"))
}
