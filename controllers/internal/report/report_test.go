// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestIgnoreGone(t *testing.T) {
	now := metav1.Now()
	there := &corev1.Secret{}
	held := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, Finalizers: []string{"held"}}}
	free := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "one")
	other := errors.New("refused")
	joined := func(list ...error) error { return kerrors.NewAggregate(list) }
	for name, test := range map[string]struct {
		err    error
		object client.Object
		kept   bool
	}{
		"nothing failed":               {nil, free, false},
		"gone as it should be":         {notFound, free, false},
		"gone, in several requests":    {joined(notFound, fmt.Errorf("status: %w", notFound)), free, false},
		"gone and something else":      {joined(notFound, other), free, true},
		"something else":               {other, free, true},
		"gone though it was held":      {notFound, held, true},
		"gone though it was not to be": {joined(notFound), there, true},
		"nothing failed, and it stays": {nil, there, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(IgnoreGone(test.err, test.object) != nil).To(Equal(test.kept))
		})
	}
}
