// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// What a manager needs is installed with it. Only Secrets that it can do without are not.
func TestComponentsReferToTheirOwnObjects(t *testing.T) {
	for _, provider := range providers {
		t.Run(provider.title, func(t *testing.T) {
			g := NewWithT(t)
			kinds := installed(g, provider)
			there := sets.New[string]()
			for kind, objects := range kinds {
				for _, object := range objects {
					there.Insert(kind + "/" + object.GetName())
				}
			}
			for _, certificate := range kinds["Certificate"] {
				secret, _, err := unstructured.NestedString(certificate.Object, "spec", "secretName")
				g.Expect(err).NotTo(HaveOccurred())
				there.Insert("Secret/" + secret)
			}
			pod := as[appsv1.Deployment](g, kinds, "Deployment").Spec.Template.Spec
			referred := sets.New("ServiceAccount/" + pod.ServiceAccountName)
			for _, volume := range pod.Volumes {
				if volume.Secret != nil {
					referred.Insert("Secret/" + volume.Secret.SecretName)
				}
				g.Expect(volume.ConfigMap).To(BeNil())
			}
			for _, source := range pod.Containers[0].EnvFrom {
				g.Expect(source.SecretRef.Optional).To(HaveValue(BeTrue()))
			}
			for _, binding := range append(kinds["ClusterRoleBinding"], kinds["RoleBinding"]...) {
				referred.Insert(references(binding.Object)...)
			}
			g.Expect(sets.List(referred.Difference(there))).To(BeEmpty())
		})
	}
}

// A template contains all that its objects refer to, except for ClusterClasses, which clusterctl
// adds.
func TestTemplatesReferToTheirOwnObjects(t *testing.T) {
	all, err := flavors.Build()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, template := range all.Files() {
		t.Run(template.File, func(t *testing.T) {
			g := NewWithT(t)
			there, referred := sets.New[string](), sets.New[string]()
			for _, object := range decode(g, template.Content) {
				there.Insert(object.GetKind() + "/" + object.GetName())
				referred.Insert(references(object.Object)...)
			}
			g.Expect(referred).NotTo(BeEmpty())
			g.Expect(sets.List(referred.Difference(there))).To(BeEmpty())
		})
	}
}

// references returns the kind and name of each object that a value refers to.
func references(value any) []string {
	var found []string
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, references(item)...)
		}
	case map[string]any:
		kind, named := value["kind"].(string)
		name, ok := value["name"].(string)
		// The only user is the account of the kubeadm bootstrap provider.
		if named && ok && kind != "User" {
			found = append(found, kind+"/"+name)
		}
		for _, item := range value {
			found = append(found, references(item)...)
		}
	}
	return found
}
