//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package crdmigration_test

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/contract"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/infrastructure"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const (
	older, newer = "v1beta1", "v1beta2"
	// account is the user that the migrator runs as, with exactly the manager's permissions.
	account = "system:serviceaccount:foo-system:foo-manager"
)

var _ = Describe("An object that was stored as v1beta1", func() {
	It("is stored as v1beta2, and v1beta1 can go", func(ctx SpecContext) {
		namespace, err := environment.CreateNamespace(ctx, "migration")
		Expect(err).NotTo(HaveOccurred())
		objects := examples(namespace)
		Expect(objects).To(HaveLen(len(definitions(ctx))), "one of each kind")

		By("writing them as an earlier release did")
		storeAs(ctx, older, namespace)
		for _, object := range objects {
			Expect(environment.Client.Create(ctx, object, client.FieldOwner("old-release"))).To(Succeed())
		}
		storeAs(ctx, newer, namespace)
		for _, crd := range definitions(ctx) {
			Expect(crd.Status.StoredVersions).To(ConsistOf(older, newer))
		}
		before := map[string]*unstructured.Unstructured{}
		for _, object := range objects {
			before[object.GetKind()] = get(ctx, object, newer)
		}

		By("starting the migrator with the rights of the manager")
		startMigrator(ctx)
		Eventually(func(g Gomega) {
			for _, crd := range definitions(ctx) {
				g.Expect(crd.Status.StoredVersions).To(Equal([]string{newer}), crd.Name)
				g.Expect(crd.Annotations).To(HaveKey(clusterv1.CRDMigrationObservedGenerationAnnotation))
			}
		}).Should(Succeed())
		for _, object := range objects {
			Expect(stored(ctx, object).GetAPIVersion()).To(HaveSuffix("/"+newer), object.GetKind())
			after := get(ctx, object, newer)
			Expect(after.GetGeneration()).To(Equal(before[object.GetKind()].GetGeneration()), "the spec of the %s is the same", object.GetKind())
			Expect(after.Object["spec"]).To(Equal(before[object.GetKind()].Object["spec"]))
		}

		By("no longer serving v1beta1")
		changeVersions(ctx, func(version *apiextensionsv1.CustomResourceDefinitionVersion) { version.Served = version.Name == newer })
		for _, object := range objects {
			Eventually(func() []string { return managedVersions(get(ctx, object, newer)) }).Should(
				HaveEach(HaveSuffix("/"+newer)), "nobody manages a field in a version that %s has no more", object.GetKind())
			Expect(managedVersions(get(ctx, object, newer))).NotTo(BeEmpty(), "without any, the next apply would share all fields with a guessed manager")
		}

		By("removing v1beta1")
		for _, crd := range definitions(ctx) {
			kept := crd.DeepCopy()
			kept.Spec.Versions = nil
			for _, version := range crd.Spec.Versions {
				if version.Name == newer {
					kept.Spec.Versions = append(kept.Spec.Versions, version)
				}
			}
			Expect(environment.Client.Patch(ctx, kept, client.MergeFrom(crd))).To(Succeed(), "%s: the API server refuses it while v1beta1 may be stored", crd.Name)
		}
		for _, object := range objects {
			applied := get(ctx, object, newer)
			applied.SetManagedFields(nil)
			applied.SetResourceVersion("")
			applied.SetLabels(map[string]string{"still": "writable"})
			Expect(environment.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("user"), client.ForceOwnership)).To(Succeed())
		}
	})
})

// examples returns one v1beta1 object of each kind.
func examples(namespace string) []*unstructured.Unstructured {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("..", "..", "test", "integration", "webhooks", "testdata", "valid.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var all []map[string]any
	Expect(yaml.Unmarshal(content, &all)).To(Succeed())
	var result []*unstructured.Unstructured
	for _, one := range all {
		object := &unstructured.Unstructured{Object: one}
		if object.GroupVersionKind().Version != older {
			continue
		}
		object.SetNamespace(namespace)
		object.SetName("example")
		result = append(result, object)
	}
	return result
}

// definitions returns the CRDs of all migrated kinds.
func definitions(ctx SpecContext) []*apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	var result []*apiextensionsv1.CustomResourceDefinition
	for _, kinds := range []crdmigration.Kinds{controlplane.Kinds(), infrastructure.Kinds()} {
		for object := range kinds {
			kind, err := environment.Client.GroupVersionKindFor(object)
			Expect(err).NotTo(HaveOccurred())
			crd := &apiextensionsv1.CustomResourceDefinition{}
			Expect(environment.Client.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(kind.Group, kind.Kind)}, crd)).To(Succeed())
			result = append(result, crd)
		}
	}
	return result
}

func changeVersions(ctx SpecContext, change func(*apiextensionsv1.CustomResourceDefinitionVersion)) {
	GinkgoHelper()
	for _, crd := range definitions(ctx) {
		changed := crd.DeepCopy()
		for i := range changed.Spec.Versions {
			change(&changed.Spec.Versions[i])
		}
		Expect(environment.Client.Patch(ctx, changed, client.MergeFrom(crd))).To(Succeed())
	}
}

// storeAs makes the API server store objects in a version, and waits until it does.
func storeAs(ctx SpecContext, version, namespace string) {
	GinkgoHelper()
	changeVersions(ctx, func(one *apiextensionsv1.CustomResourceDefinitionVersion) { one.Storage = one.Name == version })
	for _, probe := range examples(namespace) {
		probe.SetName("probe")
		Eventually(func(g Gomega) {
			g.Expect(client.IgnoreNotFound(environment.Client.Delete(ctx, probe.DeepCopy()))).To(Succeed())
			g.Expect(environment.Client.Create(ctx, probe.DeepCopy())).To(Succeed())
			g.Expect(stored(ctx, probe).GetAPIVersion()).To(HaveSuffix("/" + version))
		}).Should(Succeed(), probe.GetKind())
		Expect(environment.Client.Delete(ctx, probe)).To(Succeed())
	}
}

// stored reads an object as it is stored in etcd.
func stored(ctx SpecContext, object *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{environment.EtcdURL()}})
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(etcd.Close()).To(Succeed()) }()
	mapping, err := environment.Client.RESTMapper().RESTMapping(object.GroupVersionKind().GroupKind())
	Expect(err).NotTo(HaveOccurred())
	key := "/registry/" + mapping.Resource.Group + "/" + mapping.Resource.Resource + "/" + object.GetNamespace() + "/" + object.GetName()
	answer, err := etcd.Get(ctx, key)
	Expect(err).NotTo(HaveOccurred())
	Expect(answer.Kvs).To(HaveLen(1), key)
	result := &unstructured.Unstructured{}
	Expect(json.Unmarshal(answer.Kvs[0].Value, &result.Object)).To(Succeed())
	return result
}

func get(ctx SpecContext, object *unstructured.Unstructured, version string) *unstructured.Unstructured {
	GinkgoHelper()
	result := &unstructured.Unstructured{}
	result.SetGroupVersionKind(object.GroupVersionKind().GroupKind().WithVersion(version))
	Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), result)).To(Succeed())
	return result
}

func managedVersions(object *unstructured.Unstructured) []string {
	var versions []string
	for _, entry := range object.GetManagedFields() {
		versions = append(versions, entry.APIVersion)
	}
	return versions
}

// startMigrator runs the migrator of a manager with both providers, as that manager's service account.
func startMigrator(ctx SpecContext) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "default", "role.yaml"))
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(content, role)).To(Succeed())
	Expect(environment.Client.Create(ctx, role)).To(Succeed())
	Expect(environment.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: account}},
	})).To(Succeed())

	config := rest.CopyConfig(environment.Config)
	config.Impersonate.UserName = account
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: environment.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	Expect(err).NotTo(HaveOccurred())
	Expect(crdmigration.SetupWithManager(ctx, mgr, nil, controlplane.Kinds(), infrastructure.Kinds())).To(Succeed())
	envtestenv.RunManager(mgr)
}
