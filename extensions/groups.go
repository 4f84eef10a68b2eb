// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"github.com/capfoo/cluster-api-provider-foo/extensions/addons"
	"github.com/capfoo/cluster-api-provider-foo/extensions/checks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/cleanup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/quota"
	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/extensions/snapshot"
	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
)

// Group is a group of settings that belong together.
type Group struct {
	// Title names the group, and About describes it in a sentence or two.
	Title, About string
	// Settings are in the order in which they should be read.
	Settings []settings.Doc
}

// Groups returns all settings that the extension reads.
func Groups() []Group {
	return []Group{{
		Title: "Quota",
		About: "Before the objects of a cluster are created. What its topology asks for must fit into the quota that the tenant of the Foo cloud has left, minus what clusters that were let through earlier still have to order. " +
			"Clusters on other infrastructure are let through.",
		Settings: quota.Settings(),
	}, {
		Title: "Add-ons",
		About: "Once the control plane is initialized, and before an upgrade, from ConfigMaps and Secrets with the label `foo.cluster.x-k8s.io/addon: <name>` in the namespace " +
			"of the Cluster. Annotations restrict them: `foo.cluster.x-k8s.io/cluster-selector` to some Clusters, `foo.cluster.x-k8s.io/kubernetes-versions` to some versions, such as `>=1.35.0 <1.37.0`, " +
			"and `foo.cluster.x-k8s.io/apply` to the moment `after-initialization` (the default), `before-upgrade`, or both, separated by a comma. Objects are applied but never deleted.",
		Settings: addons.Settings(),
	}, {
		Title:    "Snapshots of etcd",
		About:    "Before each step of the control plane, and before a deletion. A snapshot is stored under the UID of the Cluster and the version, checked against its hash and the members of etcd, and read back.",
		Settings: snapshot.Settings(),
	}, {
		Title:    "Checks around upgrades",
		About:    "Before an upgrade, after each of its steps and at its end. DNS is judged by its objects only: no name is resolved.",
		Settings: checks.Settings(),
	}, {
		Title: "Clean-up before a deletion",
		About: "Deletes load balancers and volumes that the cluster created in a cloud, through its own API server. Pods that use such volumes are deleted too, with the workloads that would recreate them; " +
			"volumes with the reclaim policy Retain are kept. If the API server of a Cluster is gone, its deletion continues after the timeout.",
		Settings: cleanup.Settings(),
	}, {
		Title:    "Topologies of the ClusterClass foo-extension",
		About:    "The class has the variables and the patches of the class foo, but gets them from the extension.",
		Settings: topology.Settings(),
	}, {
		Title:    "Upgrade plans",
		About:    "For a ClusterClass with `spec.upgrade.external.generateUpgradePlanExtension: generate-upgrade-plan.foo`: which versions an upgrade passes through. The control plane is upgraded one minor version at a time.",
		Settings: upgradeplan.Settings(),
	}}
}

// known returns the settings of all groups.
func known() []settings.Doc {
	var all []settings.Doc
	for _, group := range Groups() {
		all = append(all, group.Settings...)
	}
	return all
}
