// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\", namespace: \"${NAMESPACE}\"}\n"

func TestResultsOfARunThatEndsBadlyAreKept(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "clusters.cluster.x-k8s.io"}}
	crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Scope = clusterv1.GroupVersion.Group, "Cluster", apiextensionsv1.NamespaceScoped
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: clusterv1.GroupVersion.Version, Storage: true}}
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		scheme, err := NewScheme()
		g.Expect(err).NotTo(HaveOccurred())
		ctx, interrupt := context.WithCancel(t.Context())
		var warnings []string
		c := &Checker{
			Template: cluster, Namespace: "live", Warn: func(message string) { warnings = append(warnings, message) },
			Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(crd).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if object.GetObjectKind().GroupVersionKind().Kind == "Cluster" {
						interrupt()
					}
					return c.Create(ctx, object, options...)
				},
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					if _, ok := object.(*corev1.Namespace); ok {
						return errors.New("refused")
					}
					return c.Delete(ctx, object, options...)
				},
			}).Build(),
		}
		results, err := c.Check(ctx, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(results).To(ContainElement(And(HaveField("Rule", "clusterctl/move"), HaveField("Status", conformance.Unfinished), HaveField("Reason", ContainSubstring("context canceled")))))
		g.Expect(warnings).To(HaveExactElements("the namespace live could not be deleted: refused"))
	})
}

// Rules about no kind belong to every version of the contracts.
func TestRulesAboutNoKind(t *testing.T) {
	for _, version := range conformance.Versions {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			s := newStory(t, interceptor.Funcs{})
			s.wanted = []string{version}
			v := newView("v1beta1")
			v.namespaced[2].OwnerReferences = nil
			v.judge(s.recordJudgement)
			s.record("clusterctl/move", "", "Cluster "+clusterName, errors.New("a Node was replaced"))
			for _, rule := range []string{"clusterctl/owner-references", "clusterctl/move"} {
				g.Expect(s.results).To(HaveKeyWithValue(rule, And(HaveField("Status", conformance.Failed), HaveField("Versions", BeEmpty()))))
			}
			g.Expect(s.results["clusterctl/move"].Findings).To(HaveExactElements(HaveField("Versions", BeEmpty())))
		})
	}
	g := NewWithT(t)
	s := newStory(t, interceptor.Funcs{})
	newView("v1beta1").judge(s.recordJudgement)
	report, err := conformance.Check(t.Context(), conformance.Options{Checkers: []conformance.Checker{resultsOf{s.Checker}}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Contracts).To(Equal([]string{"v1beta1"}))
}

// resultsOf is a checker that has recorded its results already.
type resultsOf struct{ *Checker }

func (r resultsOf) Check(context.Context, []string) ([]conformance.Result, error) {
	return r.list(), nil
}

func TestContractsThatClusterAPIDoesNotUse(t *testing.T) {
	const core = "cluster-api"
	for name, test := range map[string]struct {
		wanted, providers []string
		// kinds have the versions of the contract in their labels, by provider.
		kinds map[string][]string
		want  string
	}{
		"used":                    {[]string{"v1beta2"}, nil, map[string][]string{"infrastructure-demo": {"v1beta1", "v1beta2"}}, ""},
		"used by another kind":    {[]string{"v1beta1"}, nil, map[string][]string{"infrastructure-demo": {"v1beta1"}, "bootstrap-demo": {"v1beta2"}}, ""},
		"served only":             {[]string{"v1beta1"}, nil, map[string][]string{"infrastructure-demo": {"v1beta1", "v1beta2"}}, "contract version v1beta1"},
		"not served":              {[]string{"v1beta2"}, nil, map[string][]string{"infrastructure-demo": {"v1beta1"}, core: {"v1beta2"}}, "contract version v1beta2"},
		"one of two":              {[]string{"v1beta1", "v1beta2"}, nil, map[string][]string{"infrastructure-demo": {"v1beta1"}}, "contract version v1beta2"},
		"by a provider of others": {[]string{"v1beta2"}, []string{"infrastructure-demo"}, map[string][]string{"infrastructure-demo": {"v1beta1"}, "bootstrap-demo": {"v1beta2"}}, "and that is v1beta1"},
		"all":                     {nil, nil, map[string][]string{"infrastructure-demo": {"v1beta1"}}, ""},
		"no kinds":                {[]string{"v1beta2"}, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Checker{Providers: test.providers, wanted: test.wanted, crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}}
			for provider, versions := range test.kinds {
				crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{clusterv1.ProviderNameLabel: provider}}}
				for _, version := range versions {
					crd.Labels["cluster.x-k8s.io/"+version] = "v1"
				}
				c.crds[schema.GroupKind{Group: provider}] = crd
			}
			if err := c.checkContracts(); test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestTemplateWithATopology(t *testing.T) {
	g := NewWithT(t)
	c := &Checker{Namespace: "live"}
	_, err := c.render(cluster, true)
	g.Expect(err).To(MatchError(ContainSubstring("has no managed topology")))
	objects, err := c.render(cluster+"spec: {topology: {}}\n---\nkind: ClusterClass\nmetadata: {name: a}\n", true)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveEach(HaveField("GetNamespace()", "live")))
}

func TestTemplate(t *testing.T) {
	for name, test := range map[string]struct{ template, want string }{
		"empty":                  {"", "the template has 0 Clusters, want 1"},
		"no YAML":                {"a: [", "did not find expected"},
		"two clusters":           {cluster + "---\n" + cluster, "the template has 2 Clusters, want 1"},
		"another name":           {"kind: Cluster\nmetadata: {name: a}", "is named a, want ${CLUSTER_NAME}"},
		"a topology":             {cluster + "spec: {topology: {}}", "has a managed topology"},
		"an unset variable":      {cluster + "spec: {a: \"${B}\", c: \"${D:=e}\"}", "set the template's variables in the environment: B"},
		"a broken variable":      {cluster + "spec: {a: \"${B\"}", "the template: variables: "},
		"a part of an unset one": {cluster + "spec: {a: \"${B:0:5}\"}", "set the template's variables in the environment: B"},
		"variables with spaces":  {cluster + "spec: {a: \"${ SET }\", c: \"${D:=e}\", f: \"${CONTROL_PLANE_MACHINE_COUNT }\"}", ""},
		"variables that are":     {cluster + "spec: {a: \"${SET}\", c: \"${D:=e}\", f: \"${CONTROL_PLANE_MACHINE_COUNT}\"}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Checker{Template: test.template, Namespace: "live", Variables: map[string]string{"SET": "x"}}
			objects, err := c.render(c.Template, false)
			if test.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(objects).To(HaveExactElements(HaveField("Object", HaveKeyWithValue("spec", map[string]any{"a": "x", "c": "e", "f": "1"}))))
			g.Expect(objects[0].GetNamespace()).To(Equal("live"))
		})
	}
}
