// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upgradeplan answers the hook GenerateUpgradePlan with a chain of the Kubernetes versions
// that this installation has.
//
// The control plane is upgraded one minor version at a time: to the newest available release of
// each, and finally to the version that the Cluster should have. The list for the workers stays
// empty. Cluster API then upgrades them as rarely and as late as the skew between kubelet and API
// server allows, which is once every three minor versions.
//
// The setting kubernetesVersions lists the available versions. Without it, a source is asked, which
// is the cloud in Foo's manager. A class asks for plans with
// spec.upgrade.external.generateUpgradePlanExtension: generate-upgrade-plan.foo, as the
// ClusterClass foo-extension does. In that case, spec.kubernetesVersions of the class does not
// affect plans, and only bounds the versions that a Cluster may have.
//
// Limits: an available version does not mean that a cluster is ready for it. The hook
// BeforeClusterUpgrade checks that.
package upgradeplan
