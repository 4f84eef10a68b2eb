// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
)

// EnsureOwner makes the owner the controller of a secret of Cluster API's type, in place of any
// other controller. Such a secret is deleted with its control plane. A secret of another type is the
// user's and is left alone. It writes only if that changes something.
func EnsureOwner(ctx context.Context, writer client.Writer, existing *corev1.Secret, owner metav1.OwnerReference) error {
	if existing.Type != clusterv1.ClusterSecretType {
		return nil
	}
	references := existing.DeepCopy().GetOwnerReferences()
	if controller := metav1.GetControllerOf(existing); controller != nil && controller.UID != owner.UID {
		references = util.RemoveOwnerRef(references, *controller)
	}
	references = util.EnsureOwnerRef(references, owner)
	if apiequality.Semantic.DeepEqual(existing.OwnerReferences, references) {
		return nil
	}
	changed := existing.DeepCopy()
	changed.SetOwnerReferences(references)
	if err := writer.Patch(ctx, changed, client.MergeFrom(existing)); err != nil {
		return fmt.Errorf("setting the owner of secret %s: %w", changed.Name, err)
	}
	return nil
}
