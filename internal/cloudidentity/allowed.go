// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// Allows reports whether an identity allows FooClusters of a namespace to use it.
func Allows(ctx context.Context, reader client.Reader, identity *infrav1.FooClusterIdentity, namespace string) (bool, error) {
	allowed := identity.Spec.AllowedNamespaces
	switch {
	case slices.Contains(allowed.List, namespace):
		return true, nil
	case allowed.Selector == nil:
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if err != nil {
		return false, fmt.Errorf("spec.allowedNamespaces.selector of FooClusterIdentity %s: %w", identity.Name, err)
	}
	object := &corev1.Namespace{}
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, object); err != nil {
		return false, fmt.Errorf("getting the labels of namespace %s: %w", namespace, err)
	}
	return selector.Matches(labels.Set(object.Labels)), nil
}
