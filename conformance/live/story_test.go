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
