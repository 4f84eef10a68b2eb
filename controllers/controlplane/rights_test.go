//go:build integration

/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane

import (
	"context"
	"os"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

const (
	// otherManager is who a manager is that has the rights of a release only, and the value of its watch filter.
	otherManager = "other"
	// allowed and documented are the files that say what it may do.
	allowed    = "../../config/control-plane/role.yaml"
	documented = "../../docs/getting-started.md"
)

// The roles of a release do not name the kinds of other providers, so the manager of this story has no rights on them at first.
var _ = Describe("A control plane on other infrastructure", func() {
	It("says which rights it misses, and goes on when it is given them", func(ctx SpecContext) {
		installKinds("DockerCluster", "DockerMachineTemplate", "DockerMachine")
		content, err := os.ReadFile(allowed)
		Expect(err).NotTo(HaveOccurred())
		grant(ctx, string(content))
		startManagerAs(otherManager)

		f := newFixture(ctx, onOther)
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).WithTimeout(reconciliationTimeout/6).Should(And(
			ContainSubstring("(InfrastructureForbidden)"),
			ContainSubstring("the manager may not get, list, watch DockerCluster.infrastructure.cluster.x-k8s.io"),
			ContainSubstring("get, list, watch, patch DockerMachineTemplate.infrastructure.cluster.x-k8s.io"),
			ContainSubstring("get, list, watch, create, patch, delete DockerMachine.infrastructure.cluster.x-k8s.io"),
			ContainSubstring(aggregationLabel)), "it waits for what it will never be given")

		By("giving it the rights that are documented")
		guide, err := os.ReadFile(documented)
		Expect(err).NotTo(HaveOccurred())
		role := regexp.MustCompile("(?s)```yaml\n([^`]*kind: ClusterRole\n.*?)```").FindSubmatch(guide)
		Expect(role).NotTo(BeNil())
		grant(ctx, string(role[1]))
		f.provision(ctx)
		f.expectMachines(ctx, 1)
	})
})

// onOther makes a fixture that has kinds of another provider, and belongs to the manager of this story.
func onOther(f *fixture) {
	f.infra.SetKind("DockerCluster")
	f.cluster.Spec.InfrastructureRef.Kind = "DockerCluster"
	f.template.SetKind("DockerMachineTemplate")
	f.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Kind = "DockerMachineTemplate"
	for _, object := range []client.Object{f.cluster, f.infra, f.template, f.controlPlane} {
		object.SetLabels(map[string]string{clusterv1.WatchLabel: otherManager})
	}
}

// installKinds installs kinds of another provider that take anything.
func installKinds(kinds ...string) {
	GinkgoHelper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, kind := range kinds {
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
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: crds, Scheme: env.Scheme})
	Expect(err).NotTo(HaveOccurred())
}

// grant gives the other manager what a ClusterRole says.
func grant(ctx context.Context, text string) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict([]byte(text), role)).To(Succeed())
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: otherManager}},
	}
	for _, object := range []client.Object{role, binding} {
		Expect(c.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(c.Delete(ctx, object)).To(Succeed()) })
	}
}

// startManagerAs runs the controller as a user.
func startManagerAs(user string) {
	GinkgoHelper()
	as := rest.CopyConfig(env.Config)
	as.Impersonate = rest.ImpersonationConfig{UserName: user}
	mgr, err := ctrl.NewManager(as, ctrl.Options{
		Scheme: env.Scheme, Metrics: server.Options{BindAddress: "0"},
		// That of the other stories runs in the same process.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	Expect(err).NotTo(HaveOccurred())
	running, stop := context.WithCancel(context.Background())
	Expect(SetupWithManager(running, mgr, Options{WatchFilterValue: user, SecretClient: mgr.GetClient(), Workload: workloads})).To(Succeed())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Eventually(stopped).Should(Receive(BeNil()))
	})
}
