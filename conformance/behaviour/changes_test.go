// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// A change that has no effect says nothing about what the provider does with changes.
func TestChangeOfAnObject(t *testing.T) {
	refuse := func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
		return apierrors.NewInvalid(object.GetObjectKind().GroupVersionKind().GroupKind(), object.GetName(), nil)
	}
	// As a webhook does, or an API server that does not know the field.
	restore := func(ctx context.Context, c client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
		return c.Get(ctx, client.ObjectKeyFromObject(object), object)
	}
	prune := func(ctx context.Context, c client.WithWatch, template runtime.ApplyConfiguration, options ...client.ApplyOption) error {
		unstructured.RemoveNestedField(template.(runtime.Unstructured).UnstructuredContent(), "spec", "template", "spec", "size")
		return c.Apply(ctx, template, options...)
	}
	changesNothing := MatchError(ContainSubstring("changes nothing"))
	for name, test := range map[string]struct {
		spec    map[string]any
		server  interceptor.Funcs
		allowed bool
		err     types.GomegaMatcher
		want    conformance.Status
	}{
		"allowed":                   {map[string]any{"size": "small"}, interceptor.Funcs{}, true, BeNil(), conformance.Passed},
		"allowed in an empty spec":  {nil, interceptor.Funcs{}, true, BeNil(), conformance.Passed},
		"refused":                   {map[string]any{"size": "small"}, interceptor.Funcs{Patch: refuse}, false, BeNil(), conformance.Failed},
		"restored":                  {map[string]any{"size": "small"}, interceptor.Funcs{Patch: restore}, false, BeNil(), conformance.Failed},
		"what the object has":       {map[string]any{"size": "large"}, interceptor.Funcs{}, false, changesNothing, ""},
		"a field that is not known": {map[string]any{"size": "small"}, interceptor.Funcs{Patch: restore, Apply: prune}, false, changesNothing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := changeStory(g, test.server)
			s.ctx = t.Context()
			object, err := s.object(InfraMachine, machineName)
			g.Expect(err).NotTo(HaveOccurred())
			object.Object["spec"] = test.spec
			if test.spec == nil {
				delete(object.Object, "spec")
			}
			g.Expect(s.Create(t.Context(), object)).To(Succeed())
			allowed, err := s.changeSpec(object, "in-place-changes")
			g.Expect(err).To(test.err)
			g.Expect(allowed).To(Equal(test.allowed))
			found := s.results.list([]string{s.contract})
			if test.want == "" {
				g.Expect(found).To(BeEmpty())
			} else {
				g.Expect(found).To(HaveExactElements(HaveField("Status", test.want)))
			}
		})
	}
}

// changeStory returns the story of a machine whose size can change, with an API server.
func changeStory(g Gomega, server interceptor.Funcs) *story {
	crds := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	for _, kind := range []string{"DemoMachine", "DemoMachineTemplate"} {
		labels := map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}
		crds[schema.GroupKind{Group: "demo.example.com", Kind: kind}] = &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	config := &Config{Kinds: map[Role]*Kind{InfraMachine: {
		Group: "demo.example.com", Kind: "DemoMachine", Spec: map[string]any{"size": "small"}, TemplateChange: map[string]any{"size": "large"}, Features: []string{"inPlaceUpdates"},
	}}}
	config.setDefaults()
	c := &Checker{Config: config, Environment: &Environment{Config: &rest.Config{Host: "https://127.0.0.1:6443"}, crds: crds}}
	g.Expect(c.readRules()).To(Succeed())
	return &story{
		scenario: changeScenarios()[0], Client: fake.NewClientBuilder().WithInterceptorFuncs(server).Build(),
		checker: c, contract: "v1beta2", namespace: "demo", results: &results{},
	}
}
