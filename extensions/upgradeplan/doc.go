// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upgradeplan answers the hook GenerateUpgradePlan with the chain of Kubernetes versions that this installation has.
//
// The control plane goes from one minor version to the next, to the newest release of each that is there, and at last to the
// version that the Cluster is to have. The list of workers is left empty: then Cluster API itself rolls them as seldom as the
// skew between kubelet and API server allows, which is once for every three minor versions, and as late.
//
// What versions there are, the setting kubernetesVersions says; without it, whoever is asked, which in Foo's manager is the
// cloud. A class asks for plans with spec.upgrade.external.generateUpgradePlanExtension: generate-upgrade-plan.foo, as the
// ClusterClass foo-extension does. Then spec.kubernetesVersions of the class plans nothing, and only bounds the versions that a
// Cluster may have.
//
// Limits: that a version is there does not say that a cluster is ready for it: that is for the hook BeforeClusterUpgrade.
package upgradeplan
