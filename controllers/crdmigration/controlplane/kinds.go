// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane lists the kinds of the control plane provider whose stored objects are
// migrated.
//
// Limits: it migrates nothing itself; package crdmigration does.
package controlplane

import (
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=patch,resourceNames=foocontrolplanes.controlplane.cluster.x-k8s.io;foocontrolplanetemplates.controlplane.cluster.x-k8s.io
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes;foocontrolplanetemplates,verbs=get;list;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes/status,verbs=patch

// Kinds returns all kinds of the control plane provider. A kind with a status subresource is
// written through it, where no webhook can reject the write.
func Kinds() crdmigration.Kinds {
	return crdmigration.Kinds{
		&controlplanev1.FooControlPlane{}:         {UseStatusForStorageVersionMigration: true},
		&controlplanev1.FooControlPlaneTemplate{}: {},
	}
}
