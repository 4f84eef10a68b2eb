// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package infrastructure lists the kinds of the infrastructure provider whose stored objects are
// migrated.
//
// Limits: it migrates nothing itself; package crdmigration does.
package infrastructure

import (
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=patch,resourceNames=fooclusters.infrastructure.cluster.x-k8s.io;fooclustertemplates.infrastructure.cluster.x-k8s.io;foomachines.infrastructure.cluster.x-k8s.io;foomachinetemplates.infrastructure.cluster.x-k8s.io;foomachinepools.infrastructure.cluster.x-k8s.io;foomachinepooltemplates.infrastructure.cluster.x-k8s.io
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters;fooclustertemplates;foomachines;foomachinetemplates;foomachinepools;foomachinepooltemplates,verbs=get;list;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters/status;foomachines/status;foomachinetemplates/status;foomachinepools/status,verbs=patch

// Kinds returns all kinds of the infrastructure provider. A kind with a status subresource is
// written through it, where no webhook can reject the write.
func Kinds() crdmigration.Kinds {
	throughStatus := crdmigrator.ByObjectConfig{UseStatusForStorageVersionMigration: true}
	return crdmigration.Kinds{
		&infrav1.FooCluster{}:             throughStatus,
		&infrav1.FooMachine{}:             throughStatus,
		&infrav1.FooMachineTemplate{}:     throughStatus,
		&infrav1.FooMachinePool{}:         throughStatus,
		&infrav1.FooClusterTemplate{}:     {},
		&infrav1.FooMachinePoolTemplate{}: {},
	}
}
