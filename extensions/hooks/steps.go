// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"slices"

	"github.com/blang/semver/v4"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/version"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// unneeded returns why nothing is done for a job whose step of an upgrade is over or leads elsewhere; nil
// if neither is known. A job can outlive its step: while its settings ask for nothing, it does not hold the
// upgrade.
func unneeded(spec extensionv1.HookJobSpec, cluster *clusterv1.Cluster) *Outcome {
	wanted := cluster.Spec.Topology.Version
	if has := Begun(cluster, spec.ToVersion, wanted); has != "" {
		return &Outcome{Done: true, Message: "nothing is done: the control plane already has version " + has}
	}
	to, err := semver.ParseTolerant(spec.ToVersion)
	topology, topologyErr := semver.ParseTolerant(wanted)
	beyond := err == nil && topologyErr == nil && to.GT(topology)
	// If this step is still needed, the hook's next call brings the plan for the other
	// version.
	if beyond || len(spec.Plan) > 0 && !slices.ContainsFunc(spec.Plan, func(step string) bool { return sameVersion(step, wanted) }) {
		return restBecause("the topology has version %s, which this upgrade does not lead to", wanted)
	}
	return nil
}

// Begun returns a version that machines of a control plane have only after an upgrade from one version to
// another has begun. It is empty if there is none, or if the control plane does not report its versions. A
// later patch of the first version shows nothing: managed control planes patch themselves.
func Begun(cluster *clusterv1.Cluster, from, to string) string {
	first, err := semver.ParseTolerant(from)
	last, lastErr := semver.ParseTolerant(to)
	if err != nil || lastErr != nil || !last.GT(first) || cluster.Status.ControlPlane == nil {
		return ""
	}
	for _, found := range cluster.Status.ControlPlane.Versions {
		has, err := semver.ParseTolerant(found.Version)
		minor := semver.Version{Major: has.Major, Minor: has.Minor}
		if err == nil && has.GT(first) && (minor.GT(first) || has.GTE(last)) {
			return found.Version
		}
	}
	return ""
}

// sameVersion reports whether two versions are the same, with or without a leading v, as Cluster API
// compares them.
func sameVersion(one, other string) bool {
	a, err := semver.ParseTolerant(one)
	if err != nil {
		return one == other
	}
	b, err := semver.ParseTolerant(other)
	return err == nil && version.Compare(a, b, version.WithBuildTags()) == 0
}
