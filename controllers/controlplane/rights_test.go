//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// released grants the control plane provider its permissions in a release. narrowed shows how to
// limit those in anyKinds to named kinds.
const (
	released = "../../config/control-plane/role.yaml"
	anyKinds = "../../config/rbac/control-plane/infrastructures_role.yaml"
	narrowed = "../../config/narrow-rights/role.yaml"
)

var _ = Describe("A control plane on other infrastructure", func() {
	It("comes up with the permissions of a release", func(ctx SpecContext) {
		installKinds("Other")
		grant(ctx, "other", released)
		grant(ctx, "other", anyKinds)
		startManagerAs(ctx, "other")
		f := newFixture(ctx, onOther("Other", "other"))
		f.provision(ctx)
		f.expectMachines(ctx, 1)
	})

	It("names the missing permission, and comes up with permissions for named kinds", func(ctx SpecContext) {
		installKinds("Named")
		grant(ctx, "named", released)
		mgr := startManagerAs(ctx, "named")
		f := newFixture(ctx, onOther("Named", "named"))
		f.provision(ctx)
		reader := cacheOnceSynced{Reader: mgr.GetClient(), cache: mgr.GetCache(), live: mgr.GetAPIReader()}
		infra := f.infra.DeepCopy()
		err := reader.Get(ctx, client.ObjectKeyFromObject(infra), infra)
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`cannot get resource "namedclusters"`)))

		By("granting the permissions in config/narrow-rights")
		grant(ctx, "named", narrowed)
		f.expectMachines(ctx, 1)
		Expect(reader.Get(ctx, client.ObjectKeyFromObject(infra), infra)).To(Succeed())
	})
})

// onOther makes a fixture with another provider's kinds, for the manager with this watch filter.
func onOther(provider, filter string) func(*fixture) {
	return func(f *fixture) {
		f.infra.SetKind(provider + "Cluster")
		f.cluster.Spec.InfrastructureRef.Kind = provider + "Cluster"
		f.template.SetKind(provider + "MachineTemplate")
		f.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Kind = provider + "MachineTemplate"
		for _, object := range []client.Object{f.cluster, f.infra, f.template, f.controlPlane} {
			object.SetLabels(map[string]string{clusterv1.WatchLabel: filter})
		}
	}
}

// installKinds installs another provider's kinds, with schemas that accept anything.
func installKinds(provider string) {
	GinkgoHelper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, suffix := range []string{"Cluster", "MachineTemplate", "Machine"} {
		kind := provider + suffix
		plural := strings.ToLower(kind) + "s"
		anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
		crds = append(crds, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + infraGroup, Labels: map[string]string{clusterv1.GroupVersion.Group + "/v1beta2": "v1beta2"}},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: infraGroup, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: strings.ToLower(kind)},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1beta2", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &anything},
					Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				}},
			},
		})
	}
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: crds, Scheme: env.Scheme, MaxTime: envtestenv.Patience})
	Expect(err).NotTo(HaveOccurred())
}

// grant gives a user the permissions of a file's ClusterRole, for the user's own kinds instead
// of Foo's.
func grant(ctx context.Context, user, file string) {
	GinkgoHelper()
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(text, role)).To(Succeed())
	role.Name = user + "-" + role.Name
	for _, rule := range role.Rules {
		for i, resource := range rule.Resources {
			if file == narrowed {
				rule.Resources[i] = strings.Replace(resource, "foo", user, 1)
			}
		}
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, object := range []client.Object{role, binding} {
		Expect(c.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(c.Delete(ctx, object)).To(Succeed()) })
	}
}

// startManagerAs runs the controller as a user.
func startManagerAs(ctx context.Context, user string) ctrl.Manager {
	GinkgoHelper()
	as := rest.CopyConfig(env.Config)
	as.Impersonate = rest.ImpersonationConfig{UserName: user}
	mgr, err := ctrl.NewManager(as, ctrl.Options{
		Scheme: env.Scheme, Metrics: server.Options{BindAddress: "0"},
		// The suite's controller runs in the same process.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(SetupWithManager(ctx, mgr, Options{WatchFilterValue: user, SecretClient: mgr.GetClient(), Workload: workloads})).To(Succeed())
	envtestenv.RunManager(mgr)
	return mgr
}
