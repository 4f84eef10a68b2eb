// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// check returns what is wrong with a workload cluster, in words that are the same as long as the
// state is.
type check func(observation, hooks.Job) []string

// find returns the findings of the checks, sorted and without duplicates.
func find(seen observation, job hooks.Job, checks []check) []string {
	found := slices.Clone(seen.unreadable)
	for _, check := range checks {
		found = append(found, check(seen, job)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// apiServerWell finds what the API server itself reports: its readiness, which includes etcd, and
// its liveness.
func apiServerWell(seen observation, _ hooks.Job) []string {
	found := make([]string, 0, len(seen.failed))
	for _, probe := range seen.failed {
		text := fmt.Sprintf("%s of the API server fails", probe.path)
		if len(probe.checks) > 0 {
			text += ": " + strings.Join(slices.Sorted(slices.Values(probe.checks)), ", ")
		}
		found = append(found, text)
	}
	return found
}

// nodesReady finds nodes that are not Ready.
func nodesReady(seen observation, _ hooks.Job) []string {
	return eachNode(seen, func(n node) string {
		if n.ready {
			return ""
		}
		return fmt.Sprintf("Node %s is not Ready", n.name)
	})
}

// controlPlaneReady finds control plane nodes that are not Ready.
func controlPlaneReady(seen observation, job hooks.Job) []string {
	seen.nodes = slices.DeleteFunc(slices.Clone(seen.nodes), func(n node) bool { return !n.controlPlane })
	return nodesReady(seen, job)
}

// controlPlaneUpgraded finds control plane nodes whose version is not the job's target version.
func controlPlaneUpgraded(seen observation, job hooks.Job) []string {
	return eachNode(seen, func(n node) string {
		if !n.controlPlane || sameVersion(n.kubelet, job.To) {
			return ""
		}
		return fmt.Sprintf("control plane Node %s has version %s, but should have %s", n.name, n.kubelet, job.To)
	})
}

func eachNode(seen observation, problem func(node) string) []string {
	var found []string
	for _, n := range seen.nodes {
		if text := problem(n); text != "" {
			found = append(found, text)
		}
	}
	return found
}

// staticPodsReady finds static pods that are missing or not ready. kubeadm makes them on every control plane node,
// for stacked etcd too.
func staticPodsReady(seen observation, _ hooks.Job) []string {
	if len(seen.static) == 0 {
		return nil
	}
	wanted := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	stacked := slices.ContainsFunc(slices.Collect(maps.Keys(seen.static)), func(name string) bool { return strings.HasPrefix(name, "etcd-") })
	if stacked {
		wanted = append(wanted, "etcd")
	}
	var found []string
	for _, n := range seen.nodes {
		if n.controlPlane {
			found = append(found, staticPodsOf(seen, n, wanted)...)
		}
	}
	return found
}

func staticPodsOf(seen observation, n node, wanted []string) []string {
	var found []string
	for _, component := range wanted {
		ready, ok := seen.static[component+"-"+n.name]
		switch {
		case !ok:
			found = append(found, fmt.Sprintf("%s does not run on Node %s", component, n.name))
		case !ready:
			found = append(found, fmt.Sprintf("%s on Node %s is not ready", component, n.name))
		}
	}
	return found
}

// dnsServed finds what is missing from the DNS service. A cluster with neither the Service nor the
// Deployment has its own DNS, or none.
func dnsServed(seen observation, _ hooks.Job) []string {
	var found []string
	switch {
	case seen.dns.deployment && seen.dns.available == 0:
		found = append(found, "Deployment kube-system/coredns has no available replica")
	case seen.dns.deployment && !seen.dns.service:
		found = append(found, "Service kube-system/kube-dns does not exist")
	}
	if seen.dns.service && seen.dns.endpoints == 0 {
		found = append(found, "Service kube-system/kube-dns has no ready endpoint")
	}
	return found
}

// steps returns all versions that an upgrade passes through, including the target, oldest first.
func steps(job hooks.Job) []semver.Version {
	var parsed []semver.Version
	for _, text := range append(slices.Clone(job.Plan), job.To) {
		if version, err := semver.ParseTolerant(text); err == nil {
			parsed = append(parsed, version)
		}
	}
	slices.SortFunc(parsed, semver.Version.Compare)
	return slices.CompactFunc(parsed, semver.Version.EQ)
}

// versionsThere finds versions of the upgrade that are not available for machines.
func versionsThere(seen observation, job hooks.Job) []string {
	if seen.versions == nil {
		return nil
	}
	others := "none are available"
	if len(seen.versions) > 0 {
		others = "available: " + strings.Join(ordered(seen.versions), ", ")
	}
	var found []string
	for _, step := range steps(job) {
		if !slices.ContainsFunc(seen.versions, func(version string) bool { return sameVersion(version, step.String()) }) {
			found = append(found, fmt.Sprintf("no image of version v%s; %s", step, others))
		}
	}
	return found
}

// ordered returns versions oldest first. It compares texts that are not versions alphabetically.
func ordered(versions []string) []string {
	return slices.SortedFunc(slices.Values(versions), func(a, b string) int {
		one, errOne := semver.ParseTolerant(a)
		other, errOther := semver.ParseTolerant(b)
		if errOne == nil && errOther == nil {
			return one.Compare(other)
		}
		return cmp.Compare(a, b)
	})
}

// olderKubelets is how many minor versions a kubelet may be behind its API server.
const olderKubelets = 3

// skewAllowed finds kubelets that would be too old or too new for the first API server of the
// upgrade. Later steps need no check: Cluster API plans an upgrade of the workers before they fall
// too far behind.
func skewAllowed(seen observation, job hooks.Job) []string {
	planned := steps(job)
	if len(planned) == 0 {
		return nil
	}
	first := planned[0]
	return eachNode(seen, func(n node) string {
		kubelet, err := semver.ParseTolerant(n.kubelet)
		switch {
		case err != nil:
			return fmt.Sprintf("the kubelet of Node %s has version %q, which is not a valid version", n.name, n.kubelet)
		case kubelet.Major != first.Major || kubelet.Minor > first.Minor:
			return fmt.Sprintf("the kubelet of Node %s has version %s, which is newer than the upgrade's v%s", n.name, n.kubelet, first)
		case kubelet.Minor+olderKubelets < first.Minor:
			return fmt.Sprintf("the kubelet of Node %s has version %s, which is more than %d minor versions older than the upgrade's v%s", n.name, n.kubelet, olderKubelets, first)
		}
		return ""
	})
}

// acknowledgedAPIsAnnotation on a Cluster lists removed APIs, separated by commas and each in the form
// resource.version.group, that nothing uses any more. An API server remembers requests until it
// restarts, so nobody else can know. Users set and remove it.
const acknowledgedAPIsAnnotation = "foo.cluster.x-k8s.io/acknowledged-apis"

// noRemovedAPIs finds APIs in use that the upgrade removes, except those that users acknowledged.
func noRemovedAPIs(seen observation, job hooks.Job) []string {
	planned := steps(job)
	if len(planned) == 0 {
		return nil
	}
	target := planned[len(planned)-1]
	acknowledged := strings.Split(strings.ReplaceAll(job.Cluster.Annotations[acknowledgedAPIsAnnotation], " ", ""), ",")
	var found []string
	for _, api := range seen.deprecated {
		removed, err := semver.ParseTolerant(api.removed)
		if err != nil || removed.Major > target.Major || (removed.Major == target.Major && removed.Minor > target.Minor) {
			continue
		}
		name := strings.TrimSuffix(strings.Join([]string{api.resource, api.version, api.group}, "."), ".")
		if !slices.Contains(acknowledged, name) {
			found = append(found, fmt.Sprintf("%s were requested since the API server started, but v%s removes them; once nothing uses them, name them in the annotation %s of the Cluster",
				name, api.removed, acknowledgedAPIsAnnotation))
		}
	}
	return found
}

// sameVersion compares versions without build metadata. A text that is not a version equals
// nothing.
func sameVersion(a, b string) bool {
	one, errOne := semver.ParseTolerant(a)
	other, errOther := semver.ParseTolerant(b)
	return errOne == nil && errOther == nil && one.EQ(other)
}
