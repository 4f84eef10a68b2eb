// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestObjectsAreCreatedOnceTheirWebhookIsReachable(t *testing.T) {
	invalid := apierrors.NewBadRequest("spec.size")
	for name, test := range map[string]struct {
		answers []error
		want    error
	}{
		"reachable":       {[]error{nil}, nil},
		"reachable later": {[]error{apierrors.NewInternalError(errors.New("failed calling webhook")), nil}, nil},
		"refused":         {[]error{invalid}, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				asked := 0
				s := &story{Checker: &Checker{Client: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
					Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
						asked++
						return test.answers[asked-1]
					},
				}).Build()}}
				err := s.createAll(t.Context(), []*unstructured.Unstructured{{Object: map[string]any{"kind": "DemoCluster"}}})
				if test.want == nil {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(test.want))
				}
				g.Expect(asked).To(Equal(len(test.answers)))
			})
		})
	}
}

// A rule that was being checked when the user interrupted the run is not broken.
func TestInterruptedStepBreaksNoRule(t *testing.T) {
	for name, test := range map[string]struct {
		always bool
		want   conformance.Status
	}{
		"interrupted":    {false, conformance.Unfinished},
		"runs to an end": {true, conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ctx, interrupt := context.WithCancel(t.Context())
				s := newControlPlaneStory(t, interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
						interrupt()
						return c.Patch(context.WithoutCancel(ctx), object, patch, options...)
					},
				}, map[string]any{"replicas": int64(1)}, "m0")
				s.tell(ctx, []step{{"scale", []string{scaling}, (*story).scaleUp, test.always}})
				g.Expect(s.results).To(HaveKeyWithValue(scaling, HaveField("Status", test.want)))
			})
		})
	}
}

func TestInterruptedRuleDoesNotPassLater(t *testing.T) {
	g := NewWithT(t)
	c := &Checker{interrupted: func() bool { return true }}
	g.Expect(c.readRules()).To(Succeed())
	for _, problem := range []error{nil, errors.New("signal: killed"), nil} {
		c.record("clusterctl/install", "v1beta2", "", problem)
	}
	g.Expect(c.results["clusterctl/install"].Status).To(Equal(conformance.Passed), "it passed before")
	c.record("clusterctl/generate", "v1beta2", "flavor", errors.New("signal: killed"))
	c.record("clusterctl/generate", "v1beta2", "", nil)
	g.Expect(c.results["clusterctl/generate"].Status).To(Equal(conformance.Unfinished))
	c.missing("clusterctl/upgrade", conformance.NotClaimed, "nothing was seen")
	g.Expect(c.results["clusterctl/upgrade"].Status).To(Equal(conformance.Unfinished))
}
