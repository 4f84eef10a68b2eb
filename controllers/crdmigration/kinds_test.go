// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package crdmigration_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

var providers = map[string]crdmigration.Kinds{"control-plane": controlplane.Kinds(), "infrastructure": infrastructure.Kinds()}

func readYAML(t *testing.T, into any, path ...string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "config"}, path...)...))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(yaml.UnmarshalStrict(content, into)).To(Succeed())
}

// crds returns the CRDs that have more than one version.
func crds(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "config", "crd", "*", "bases", "*.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	result := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, path := range paths {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		content, err := os.ReadFile(path)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(yaml.UnmarshalStrict(content, crd)).To(Succeed())
		if len(crd.Spec.Versions) > 1 {
			result[crd.Spec.Group+"/"+crd.Spec.Names.Kind] = crd
		}
	}
	return result
}

// A kind that is left out would keep its old version in storedVersions forever.
func TestEveryKindIsMigrated(t *testing.T) {
	g := NewWithT(t)
	scheme, err := manager.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]bool{}
	for _, kinds := range providers {
		for object, config := range kinds {
			kind, err := apiutil.GVKForObject(object, scheme)
			g.Expect(err).NotTo(HaveOccurred())
			name := kind.Group + "/" + kind.Kind
			g.Expect(crds(t)).To(HaveKey(name))
			subresources := crds(t)[name].Spec.Versions[0].Subresources
			hasStatus := subresources != nil && subresources.Status != nil
			g.Expect(config.UseStatusForStorageVersionMigration).To(Equal(hasStatus), name)
			found[name] = true
		}
	}
	g.Expect(slices.Sorted(maps.Keys(found))).To(Equal(slices.Sorted(maps.Keys(crds(t)))))
}

// Each provider may patch the CRDs that it installs, and no others.
func TestRightsNameTheKinds(t *testing.T) {
	for provider := range providers {
		role := &rbacv1.ClusterRole{}
		readYAML(t, role, provider, "role.yaml")
		var named []string
		for _, rule := range role.Rules {
			if !slices.Equal(rule.APIGroups, []string{apiextensionsv1.GroupName}) || slices.Equal(rule.Verbs, []string{"get", "list", "watch"}) {
				continue
			}
			named = append(named, rule.ResourceNames...)
			NewWithT(t).Expect(rule.Verbs).To(ConsistOf("patch"))
			NewWithT(t).Expect(rule.ResourceNames).NotTo(BeEmpty())
		}
		var want []string
		for _, crd := range crds(t) {
			if strings.ReplaceAll(provider, "-", "")+".cluster.x-k8s.io" == crd.Spec.Group {
				want = append(want, crd.Name)
			}
		}
		NewWithT(t).Expect(named).To(ConsistOf(want), provider)
	}
}
