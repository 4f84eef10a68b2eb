// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crdmigration keeps what is stored of Foo's kinds in the version that is stored now, so that a later release can
// leave out an older version. When a CRD changes, Cluster API's migrator writes each object that may be stored in another
// version, sets status.storedVersions of the CRD, and removes managed fields of versions that are not served any more.
//
// The kinds of each provider, with the rights that it needs for them, are in the packages below.
//
// Limits: objects are migrated one after the other, and only while the webhooks that convert them answer. A kind whose
// objects cannot be written, since a webhook of somebody else refuses them, stays as it is; the log says why.
package crdmigration

import (
	"context"
	"fmt"
	"maps"

	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// Kinds are the kinds to migrate, and how.
type Kinds map[client.Object]crdmigrator.ByObjectConfig

// SetupWithManager adds one migrator for all kinds to a manager. Phases in skip are left out. The error names a phase that
// does not exist.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, skip []crdmigrator.Phase, kinds ...Kinds) error {
	all := Kinds{}
	for _, some := range kinds {
		maps.Copy(all, some)
	}
	migrator := &crdmigrator.CRDMigrator{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), SkipCRDMigrationPhases: skip, Config: all,
	}
	// One worker, so that many objects to migrate leave the API server time for others.
	if err := migrator.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 1}); err != nil {
		return fmt.Errorf("CRD migrator: %w", err)
	}
	return nil
}
