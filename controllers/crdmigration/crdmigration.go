// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crdmigration keeps the stored objects of Foo's kinds in the current storage version, so a
// later release can drop an older version. When a CRD changes, Cluster API's migrator rewrites each
// object that may be stored in another version, sets status.storedVersions of the CRD, and removes
// managed fields of versions that are no longer served.
//
// The subpackages list the kinds of each provider, with the RBAC rules needed to migrate them.
//
// Limits: objects are migrated one by one, and only while the conversion webhooks answer. A kind
// whose objects cannot be written because a third-party webhook rejects them is not migrated; the
// log says why.
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

// Kinds maps the kinds to migrate to how they are migrated.
type Kinds map[client.Object]crdmigrator.ByObjectConfig

// SetupWithManager adds one migrator for all kinds to a manager. It skips the phases in skip and
// returns an error that names an unknown phase.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, skip []crdmigrator.Phase, kinds ...Kinds) error {
	all := Kinds{}
	for _, some := range kinds {
		maps.Copy(all, some)
	}
	migrator := &crdmigrator.CRDMigrator{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), SkipCRDMigrationPhases: skip, Config: all,
	}
	// Use one worker, so migrating many objects leaves the API server time for others.
	if err := migrator.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 1}); err != nil {
		return fmt.Errorf("setting up the CRD migrator: %w", err)
	}
	return nil
}
