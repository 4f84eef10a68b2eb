// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func cp(name, version string) node {
	return node{name: name, kubelet: version, ready: true, controlPlane: true}
}

func worker(name, version string) node { return node{name: name, kubelet: version, ready: true} }

func pods(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

func TestChecks(t *testing.T) {
	const acknowledge = "; once nothing uses them, name them in the annotation foo.cluster.x-k8s.io/acknowledged-apis of the Cluster"
	upgrade := hooks.Job{Cluster: &clusterv1.Cluster{}, From: "v1.35.4", To: "v1.37.0", Plan: []string{"v1.36.3", "v1.37.0"}}
	kubeadmPods := []string{"kube-apiserver-a", "kube-controller-manager-a", "kube-scheduler-a"}
	for name, test := range map[string]struct {
		check check
		seen  observation
		want  []string
	}{
		"API server is well": {check: apiServerWell},
		"API server reports": {apiServerWell, observation{failed: []failedProbe{{readyPath, []string{"etcd", "a"}}, {livePath, nil}}},
			[]string{"/readyz of the API server fails: a, etcd", "/livez of the API server fails"}},

		"nodes are Ready":         {check: nodesReady, seen: observation{nodes: []node{cp("a", "v1.36.3")}}},
		"a node is not":           {nodesReady, observation{nodes: []node{{name: "b"}, cp("a", "")}}, []string{"Node b is not Ready"}},
		"a worker is not":         {check: controlPlaneReady, seen: observation{nodes: []node{{name: "b"}}}},
		"a control plane is not":  {controlPlaneReady, observation{nodes: []node{{name: "b", controlPlane: true}}}, []string{"Node b is not Ready"}},
		"control plane at target": {check: controlPlaneUpgraded, seen: observation{nodes: []node{cp("a", "v1.37.0+build"), worker("b", "v1.35.4")}}},
		"control plane behind": {controlPlaneUpgraded, observation{nodes: []node{cp("a", "v1.36.3")}},
			[]string{"control plane Node a has version v1.36.3, but should have v1.37.0"}},

		"no static pods":       {check: staticPodsReady, seen: observation{nodes: []node{cp("a", "")}}},
		"static pods, no etcd": {check: staticPodsReady, seen: observation{nodes: []node{cp("a", "")}, static: pods(kubeadmPods...)}},
		"static pods with etcd": {check: staticPodsReady, seen: observation{nodes: []node{cp("a", ""), worker("w", "")},
			static: pods(append(kubeadmPods, "etcd-a")...)}},
		"etcd is missing on one": {staticPodsReady, observation{nodes: []node{cp("a", ""), cp("b", "")},
			static: pods(append(kubeadmPods, "etcd-a", "kube-apiserver-b", "kube-controller-manager-b", "kube-scheduler-b")...)},
			[]string{"etcd does not run on Node b"}},
		"etcd is not ready": {staticPodsReady, observation{nodes: []node{cp("a", "")},
			static: map[string]bool{"kube-apiserver-a": true, "kube-controller-manager-a": true, "kube-scheduler-a": false, "etcd-a": false}},
			[]string{"kube-scheduler on Node a is not ready", "etcd on Node a is not ready"}},

		"no DNS of kubeadm":   {check: dnsServed},
		"DNS is served":       {check: dnsServed, seen: observation{dns: dns{service: true, deployment: true, available: 1, endpoints: 2}}},
		"DNS of another kind": {check: dnsServed, seen: observation{dns: dns{service: true, endpoints: 2}}},
		"DNS has no replica": {dnsServed, observation{dns: dns{service: true, deployment: true}},
			[]string{"Deployment kube-system/coredns has no available replica", "Service kube-system/kube-dns has no ready endpoint"}},
		"DNS has no Service": {dnsServed, observation{dns: dns{deployment: true, available: 1}}, []string{"Service kube-system/kube-dns does not exist"}},

		"versions are not known": {check: versionsThere},
		"versions are there":     {check: versionsThere, seen: observation{versions: []string{"v1.37.0", "v1.36.3"}}},
		"a step has no image": {versionsThere, observation{versions: []string{"v1.37.0", "v1.9.1"}},
			[]string{"no image of version v1.36.3; available: v1.9.1, v1.37.0"}},
		"there is no image": {versionsThere, observation{versions: []string{}},
			[]string{"no image of version v1.36.3; none are available", "no image of version v1.37.0; none are available"}},

		"kubelets fit": {check: skewAllowed, seen: observation{nodes: []node{worker("a", "v1.33.0"), worker("b", "v1.36.9")}}},
		"kubelets do not fit": {skewAllowed, observation{nodes: []node{worker("a", "v1.32.9"), worker("b", "v1.37.0"), worker("c", "odd")}}, []string{
			"the kubelet of Node a has version v1.32.9, which is more than 3 minor versions older than the upgrade's v1.36.3",
			"the kubelet of Node b has version v1.37.0, which is newer than the upgrade's v1.36.3",
			`the kubelet of Node c has version "odd", which is not a valid version`,
		}},

		"APIs in use": {noRemovedAPIs, observation{deprecated: []deprecatedAPI{
			{"networking.k8s.io", "v1beta1", "ipaddresses", "1.37"}, {"", "v1", "endpoints", ""}, {"a", "v1", "bs", "1.38"}, {"", "v2", "cs", "1.9"},
		}}, []string{
			"ipaddresses.v1beta1.networking.k8s.io were requested since the API server started, but v1.37 removes them" + acknowledge,
			"cs.v2 were requested since the API server started, but v1.9 removes them" + acknowledge,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.check(test.seen, upgrade)).To(HaveExactElements(test.want))
		})
	}
}

// An API server remembers a request until it restarts.
func TestAcknowledgedAPIsDoNotHoldAnUpgrade(t *testing.T) {
	g := NewWithT(t)
	seen := observation{deprecated: []deprecatedAPI{{"networking.k8s.io", "v1beta1", "ipaddresses", "1.37"}, {"", "v2", "cs", "1.9"}}}
	job := hooks.Job{Cluster: &clusterv1.Cluster{}, To: "v1.37.0"}
	for _, test := range []struct {
		given string
		left  int
	}{{"", 2}, {"ipaddresses.v1beta1.networking.k8s.io", 1}, {" cs.v2, ipaddresses.v1beta1.networking.k8s.io ", 0}, {"ipaddresses", 2}} {
		job.Cluster.Annotations = map[string]string{acknowledgedAPIsAnnotation: test.given}
		g.Expect(noRemovedAPIs(seen, job)).To(HaveLen(test.left), test.given)
	}
}

func TestBudgetsThatBlockADrain(t *testing.T) {
	isReady := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	on := func(node string, change ...func(*corev1.Pod)) corev1.Pod {
		pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: isReady}}
		for _, apply := range change {
			apply(&pod)
		}
		return pod
	}
	unready := func(pod *corev1.Pod) { pod.Status.Conditions = nil }
	of := func(kind string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: ptr.To(true)}}
		}
	}
	full := policyv1.PodDisruptionBudgetStatus{ExpectedPods: 2, CurrentHealthy: 1, DesiredHealthy: 2}
	for name, test := range map[string]struct {
		status policyv1.PodDisruptionBudgetStatus
		policy *policyv1.UnhealthyPodEvictionPolicyType
		pods   []corev1.Pod
		want   int
	}{
		"two pods on workers":     {full, nil, []corev1.Pod{on("w"), on("w", of("ReplicaSet")), on("c")}, 2},
		"only on a control plane": {full, nil, []corev1.Pod{on("c")}, 0},
		"some is allowed":         {policyv1.PodDisruptionBudgetStatus{ExpectedPods: 2, DisruptionsAllowed: 1}, nil, []corev1.Pod{on("w")}, 0},
		"without pods":            {policyv1.PodDisruptionBudgetStatus{}, nil, []corev1.Pod{on("w")}, 0},
		"of a DaemonSet":          {full, nil, []corev1.Pod{on("w", of("DaemonSet"))}, 0},
		"a mirror of the kubelet": {full, nil, []corev1.Pod{on("w", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: ""} })}, 0},
		"has ended":               {full, nil, []corev1.Pod{on("w", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })}, 0},
		"is going":                {full, nil, []corev1.Pod{on("w", func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.Now()) })}, 0},
		"is pending":              {full, nil, []corev1.Pod{on("w", unready, func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending })}, 0},
		"unhealthy":               {full, nil, []corev1.Pod{on("w", unready)}, 1},
		"unhealthy, and allowed":  {full, ptr.To(policyv1.AlwaysAllow), []corev1.Pod{on("w", unready), on("w")}, 1},
		"unhealthy, with others enough": {policyv1.PodDisruptionBudgetStatus{ExpectedPods: 3, CurrentHealthy: 2, DesiredHealthy: 2}, nil,
			[]corev1.Pod{on("w", unready), on("w"), on("w")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			item := budget{pods: test.pods}
			item.Namespace, item.Name, item.Status = "ns", "app", test.status
			item.Spec.UnhealthyPodEvictionPolicy = test.policy
			found := drainsPossible(observation{nodes: []node{cp("c", ""), worker("w", "")}, budgets: []budget{item}}, hooks.Job{})
			if test.want == 0 {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(HaveExactElements(HavePrefix("PodDisruptionBudget ns/app allows no disruption, which blocks the drain of " + string(rune('0'+test.want)) + " of its pods")))
		})
	}
}

// TestFindIsDeterministic checks that the findings do not depend on the order in which things are
// read.
func TestFindIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]string{"v1.30.0", "v1.35.4", "v1.38.0", "x"})
		seen := observation{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{3}`), 0, 8, rapid.ID[string]).Draw(t, "nodes") {
			seen.nodes = append(seen.nodes, node{name: name, kubelet: version.Draw(t, "version"), ready: rapid.Bool().Draw(t, "ready"), controlPlane: rapid.Bool().Draw(t, "controlPlane")})
		}
		seen.static = pods("etcd-aaa")
		seen.versions = rapid.SliceOfN(version, 1, 5).Draw(t, "versions")
		all := append(upgradeFindings(), nodesReady, controlPlaneUpgraded, dnsServed, drainsPossible)
		job := hooks.Job{Cluster: &clusterv1.Cluster{}, To: "v1.36.3"}
		first := find(seen, job, all)
		seen.nodes = rapid.Permutation(seen.nodes).Draw(t, "shuffled")
		seen.versions = rapid.Permutation(seen.versions).Draw(t, "shuffledVersions")
		all = rapid.Permutation(all).Draw(t, "shuffledChecks")
		if second := find(seen, job, all); !slices.Equal(first, second) {
			t.Fatalf("%q, then %q", first, second)
		}
		if !slices.IsSorted(first) || len(slices.Compact(slices.Clone(first))) != len(first) {
			t.Fatalf("not in order: %q", first)
		}
	})
}

const realMetrics = `# HELP apiserver_request_total [STABLE] Counter of apiserver requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",verb="GET"} 12
# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested.
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="networking.k8s.io",removed_release="1.37",resource="ipaddresses",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="a",removed_release="1.37",resource="bs",subresource="status",version="v1"} 0
`

func TestDeprecatedAPIs(t *testing.T) {
	g := NewWithT(t)
	found, err := deprecatedAPIs(strings.NewReader(realMetrics))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(ConsistOf(
		deprecatedAPI{version: "v1", resource: "endpoints"},
		deprecatedAPI{group: "networking.k8s.io", version: "v1beta1", resource: "ipaddresses", removed: "1.37"},
	))
	g.Expect(deprecatedAPIs(strings.NewReader(""))).To(BeEmpty())
	_, err = deprecatedAPIs(strings.NewReader(deprecatedMetric + "{odd\n"))
	g.Expect(err).To(MatchError(ContainSubstring(deprecatedMetric)))
	_, err = deprecatedAPIs(strings.NewReader(strings.Repeat("x", longestLine+1)))
	g.Expect(err).To(MatchError(ContainSubstring("too long")))
}

func TestFailedChecks(t *testing.T) {
	NewWithT(t).Expect(failedChecks([]byte("[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/x failed\nreadyz check failed\n"))).
		To(HaveExactElements("etcd", "poststarthook/x"))
}
