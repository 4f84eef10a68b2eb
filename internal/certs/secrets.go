// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"
)

// Secrets reads the Secrets that are named after a Cluster.
type Secrets struct {
	// Cached is asked first, unless it is nil. It may hold only the Secrets with Cluster API's label.
	Cached client.Reader
	// Live must not cache Secrets. It also knows those that a user created without the label.
	Live client.Reader
}

// Get returns the Secret that a Cluster has for a purpose.
func (s Secrets) Get(ctx context.Context, cluster client.ObjectKey, purpose secret.Purpose) (*corev1.Secret, error) {
	if s.Cached != nil {
		found, err := secret.GetFromNamespacedName(ctx, s.Cached, cluster, purpose)
		if !apierrors.IsNotFound(err) {
			return found, err
		}
	}
	return secret.GetFromNamespacedName(ctx, s.Live, cluster, purpose)
}
