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
