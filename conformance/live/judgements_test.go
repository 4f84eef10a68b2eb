// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// set sets a field of an object; nil removes it.
func set(o *object, value any, path string) {
	parts := strings.Split(path, ".")
	if value == nil {
		unstructured.RemoveNestedField(o.Object, parts...)
	} else {
		fields.Get(o.Object, parts[:len(parts)-1]...).(map[string]any)[parts[len(parts)-1]] = value
	}
}

func change(v *view, secret string, mutate func(*corev1.Secret)) {
	changed := v.secrets[secret]
	mutate(&changed)
	v.secrets[secret] = changed
}

func changeNode(v *view, name string, mutate func(*corev1.Node)) {
	changed := v.nodes[name]
	mutate(&changed)
	v.nodes[name] = changed
}

// mutants break, for each rule, a cluster in which nothing is left to do.
var mutants = map[string][]func(*view){
	"infrastructure-cluster/initialization": {func(v *view) {
		set(v.infra, nil, "status.initialization")
		set(v.infra, nil, "status.ready")
	}},
	"infrastructure-cluster/endpoint": {func(v *view) { set(v.infra, "192.0.2.9", "spec.controlPlaneEndpoint.host") }},
	"infrastructure-cluster/failure-domains": {func(v *view) {
		v.cluster.Status.FailureDomains = append(v.cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: "d"})
	}},
	"infrastructure-machine/initialization": {func(v *view) {
		set(v.machines[4].infra, nil, "status.initialization")
		set(v.machines[4].infra, nil, "status.ready")
	}},
	"infrastructure-machine/provider-id": {
		func(v *view) { set(v.machines[0].infra, nil, "spec.providerID") },
		func(v *view) { set(v.machines[0].infra, "demo://other", "spec.providerID") },
		func(v *view) {
			set(v.machines[0].infra, "demo://m1", "spec.providerID")
			changeNode(v, "m0", func(n *corev1.Node) { n.Spec.ProviderID = "demo://m1" })
		},
	},
	"infrastructure-machine/failure-domain": {func(v *view) {
		set(v.machines[0].infra, "b", "spec.failureDomain")
		set(v.machines[0].infra, "b", "status.failureDomain")
	}},
	"infrastructure-machine/addresses": {func(v *view) { v.machines[0].Status.Addresses = nil }},
	"bootstrap/initialization": {func(v *view) {
		set(v.machines[0].bootstrap, nil, "status.initialization")
		set(v.machines[0].bootstrap, nil, "status.ready")
	}},
	"bootstrap/data-secret": {
		func(v *view) { delete(v.secrets, "m0") },
		func(v *view) { v.machines[0].Spec.Bootstrap.DataSecretName = ptr.To("other") },
	},
	"infrastructure-machinepool/initialization": {func(v *view) { set(v.pools[0].infra, nil, "status.ready") }},
	"infrastructure-machinepool/provider-id-list": {
		func(v *view) { set(v.pools[0].infra, []any{"demo://m3"}, "spec.providerIDList") },
		func(v *view) { set(v.pools[0].infra, []any{"demo://m3", "demo://m3"}, "spec.providerIDList") },
	},
	"infrastructure-machinepool/replicas": {func(v *view) { set(v.pools[0].infra, int64(1), "status.replicas") }},
	"infrastructure-machinepool/infrastructure-machine-kind": {
		func(v *view) { set(v.pools[0].infra, "OtherMachine", "status.infrastructureMachineKind") },
		func(v *view) { delete(v.machines[3].Labels, clusterv1.MachinePoolNameLabel) },
	},
	"clusterctl/owner-references": {func(v *view) { v.namespaced[2].OwnerReferences = nil }},
	"runtime-extension/discovery": {func(v *view) { v.extensions[0].Status.Conditions = nil }},
	"control-plane/initialization": {func(v *view) {
		set(v.controlPlane, nil, "status.initialization")
		set(v.controlPlane, nil, "status.initialized")
	}},
	"control-plane/endpoint": {func(v *view) { set(v.controlPlane, int64(443), "spec.controlPlaneEndpoint.port") }},
	"control-plane/replicas": {
		func(v *view) { set(v.controlPlane, int64(2), "status.replicas") },
		func(v *view) {
			set(v.controlPlane, int64(4), "status.replicas")
			set(v.controlPlane, int64(4), "spec.replicas")
		},
	},
	"control-plane/version": {
		func(v *view) { v.machines[0].Spec.Version = "v1.35.0" },
		func(v *view) {
			changeNode(v, "m0", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.35.0" })
		},
	},
	"control-plane/status-version": {
		func(v *view) { set(v.controlPlane, "v1.35.0", "status.version") },
		func(v *view) {
			set(v.controlPlane, []any{map[string]any{"version": "v1.35.0"}, map[string]any{"version": testVersion}}, "status.versions")
		},
	},
	"control-plane/machine-label": {
		func(v *view) { v.machines[0].Labels[clusterv1.MachineControlPlaneLabel] = "true" },
		func(v *view) { delete(v.machines[0].Labels, clusterv1.ClusterNameLabel) },
	},
	"control-plane/machine-placement": {func(v *view) {
		for i := range 3 {
			v.machines[i].Spec.FailureDomain = "a"
			set(v.machines[i].infra, "a", "spec.failureDomain")
			set(v.machines[i].infra, "a", "status.failureDomain")
		}
	}, func(v *view) {
		v.machines[0].Spec.FailureDomain = "c"
		set(v.machines[0].infra, "c", "spec.failureDomain")
		set(v.machines[0].infra, "c", "status.failureDomain")
	}},
	"control-plane/min-ready-seconds": {func(v *view) { v.machines[0].Status.Conditions = nil }},
	"control-plane/kubeconfig": {
		func(v *view) { delete(v.secrets, "conformance-kubeconfig") },
		func(v *view) { change(v, "conformance-kubeconfig", func(s *corev1.Secret) { s.Type = "Opaque" }) },
		func(v *view) { change(v, "conformance-kubeconfig", func(s *corev1.Secret) { s.Labels = nil }) },
		func(v *view) { change(v, "conformance-kubeconfig", func(s *corev1.Secret) { s.Data = nil }) },
	},
	"control-plane/kubeconfig-works": {func(v *view) { v.unreachable = errors.New("certificate has expired") }},
	"control-plane/certificates":     {func(v *view) { change(v, "conformance-etcd", func(s *corev1.Secret) { s.Labels = nil }) }},
}

// broken returns the rules that a cluster breaks.
func broken(v *view) []string {
	var rules []string
	v.judge(func(rule string, _ *object, problem error) {
		if !isNoProblem(problem) {
			rules = append(rules, rule)
		}
	})
	return rules
}

func TestJudgementsOfAClusterAtRest(t *testing.T) {
	for _, contract := range conformance.Versions {
		g := NewWithT(t)
		v := newView(contract)
		g.Expect(broken(v)).To(BeEmpty(), contract)
		g.Expect(v.atRest()).To(Succeed())
		judged := map[string]bool{}
		v.judge(func(rule string, _ *object, problem error) {
			g.Expect(problem).NotTo(HaveOccurred(), "%s is not judged in the fixture", rule)
			judged[rule] = true
		})
		g.Expect(judged).To(HaveLen(len(judgements)))
	}
}

func TestEachMutantBreaksItsJudgementOnly(t *testing.T) {
	for _, j := range judgements {
		for _, contract := range conformance.Versions {
			t.Run(contract+" "+j.rule, func(t *testing.T) {
				g := NewWithT(t)
				rule, err := conformance.Find(j.rule)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(rule.At(conformance.Live)).To(BeTrue())
				g.Expect(mutants[j.rule]).NotTo(BeEmpty(), "no mutant breaks the rule")
				for _, mutate := range mutants[j.rule] {
					v := newView(contract)
					mutate(v)
					g.Expect(broken(v)).To(And(HaveEach(j.rule), Not(BeEmpty())))
				}
			})
		}
	}
}

// TestEveryRuleIsChecked demands that each rule of the level is judged or belongs to a step.
func TestEveryRuleIsChecked(t *testing.T) {
	rules, err := conformance.Rules()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	checked := map[string]bool{}
	for _, j := range judgements {
		checked[j.rule] = true
	}
	for _, step := range steps {
		for _, rule := range step.rules {
			for _, role := range roles {
				checked[strings.Replace(rule, "*", role, 1)] = true
			}
		}
	}
	for _, rule := range rules {
		if rule.At(conformance.Live) {
			NewWithT(t).Expect(checked).To(HaveKey(rule.ID))
		}
		delete(checked, rule.ID)
	}
	NewWithT(t).Expect(checked).To(BeEmpty(), "these are no rules of the level")
}

// failing has, for the rules that steps check, a test in which they fail. Those of clusterctl that are not here
// have installationMutants.
var failing = map[string]func(*testing.T){
	"*/deletion":                         TestDeletionIsJudgedByTheObjectsThatThereAre,
	"*/lost-status":                      TestComparisons,
	"clusterctl/move":                    TestRulesAboutNoKind,
	"control-plane/in-place-propagation": TestChangesThatAControlPlaneDoesNotFollow,
	"control-plane/kubeconfig-rotation":  TestRotationOfTheKubeconfig,
	"control-plane/metadata-propagation": TestChangesThatAControlPlaneDoesNotFollow,
	"control-plane/remediation":          TestControlPlaneThatDoesNotRemediate,
	"control-plane/rollout-after":        TestChangesThatAControlPlaneDoesNotFollow,
	"control-plane/upgrade":              TestChangesThatAControlPlaneDoesNotFollow,
	hooksRun:                             TestHooksThatDoNotRunBreakTheirRuleOnly,
	inPlaceUpdates:                       TestControlPlaneThatBeginsAnUpdateOnly,
	orderOfVersions:                      TestOrderOfVersions,
	poolDrain:                            TestDrains,
	poolScale:                            TestScaleOfAPool,
	scaling:                              TestScalingUpAloneDoesNotPass,
}

func TestEveryRuleOfAStepFailsInATest(t *testing.T) {
	for _, step := range steps {
		for _, rule := range step.rules {
			if installed := []string{"clusterctl/install", "clusterctl/generate", "clusterctl/upgrade", "clusterctl/uninstall"}; !slices.Contains(installed, rule) {
				NewWithT(t).Expect(failing).To(HaveKey(rule))
			}
		}
	}
}

// TestMovedWithoutAnOwner has what clusterctl takes along although no Cluster owns it.
func TestMovedWithoutAnOwner(t *testing.T) {
	demo := schema.GroupVersionKind{Group: "demo.example.com", Version: "v1", Kind: "DemoNetwork"}
	label := func(name string) map[string]string { return map[string]string{name: ""} }
	for name, test := range map[string]struct {
		kind         schema.GroupVersionKind
		crd, object  map[string]string
		itself, owns bool
	}{
		"nothing says so":                {demo, nil, nil, false, false},
		"a label of the object":          {demo, nil, label(moveLabel), true, false},
		"a label of the kind":            {demo, label(moveLabel), nil, true, false},
		"a hierarchy":                    {demo, nil, label(moveHierarchyLabel), true, true},
		"hierarchies of the kind (CAPL)": {demo, label(moveHierarchyLabel), nil, true, true},
		"a ClusterClass":                 {clusterv1.GroupVersion.WithKind("ClusterClass"), nil, nil, true, true},
		"another Cluster":                {clusterv1.GroupVersion.WithKind("Cluster"), nil, nil, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newView("v1beta2")
			parent := metav1.ObjectMeta{Name: "parent", UID: "parent", Labels: test.object}
			v.addNamespaced("DemoAddress", &metav1.ObjectMeta{Name: "child", UID: "child"}, ownerOf(demo.Kind, &parent))
			v.addNamespaced(test.kind.Kind, &parent, nil)
			added := &v.namespaced[len(v.namespaced)-1]
			added.SetGroupVersionKind(test.kind)
			added.Labels = test.object
			v.crds = map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{test.kind.GroupKind(): {ObjectMeta: metav1.ObjectMeta{Labels: test.crd}}}
			linked := v.linked()
			g.Expect(linked["parent"]).To(Equal(test.itself))
			g.Expect(linked["child"]).To(Equal(test.owns))
		})
	}
}

func TestRulesAboutReleasesNeedThem(t *testing.T) {
	g := NewWithT(t)
	s := &story{Checker: &Checker{}}
	for _, rule := range []string{"clusterctl/install", "clusterctl/upgrade", "clusterctl/uninstall", "clusterctl/generate"} {
		g.Expect(s.notHere(rule)).To(Equal("no release was given that clusterctl could install"))
	}
	g.Expect(s.notHere("clusterctl/move")).To(BeEmpty())
	s.Releases = &Releases{Versions: map[string]string{"infrastructure-demo": "v0.1.0"}}
	g.Expect(s.notHere("clusterctl/install")).To(BeEmpty())
	g.Expect(s.notHere("clusterctl/upgrade")).To(Equal("no previous release was given"))
	s.Releases.Previous = map[string]string{"infrastructure-demo": "v0.0.9"}
	g.Expect(s.notHere("clusterctl/upgrade")).To(BeEmpty())
}

func TestStepsThatNeedMore(t *testing.T) {
	g := NewWithT(t)
	s := &story{Checker: &Checker{}}
	g.Expect(s.notHere(inPlaceUpdates)).To(ContainSubstring("no address was given"))
	g.Expect(s.notHere(hooksRun)).To(Equal("no template with a topology was given"))
	s.HooksAddress, s.topology = "192.0.2.1:9443", []*unstructured.Unstructured{{}}
	g.Expect(s.notHere(inPlaceUpdates)).To(BeEmpty())
	g.Expect(s.notHere(hooksRun)).To(Equal("no version was given to upgrade to"))
	s.UpgradeTo = testVersion
	g.Expect(s.notHere(hooksRun)).To(BeEmpty())
}

// Cluster API reads versions tolerantly: CAPA writes 1.31 for v1.31.0, and CAPG leaves out the v.
func TestReportedVersions(t *testing.T) {
	for _, test := range []struct {
		spec, status string
		ok           bool
	}{
		{"v1.31.0", "1.31", true},
		{"v1.27.2", "1.27.2", true},
		{"1.31.0", "v1.31.0", true},
		{"v1.31.0", "1.30", false},
		{"v1.31.4", "1.31", false},
		{"v1.31.4+k0s.1", "v1.31.4+k0s.0", false},
		{"v1.31.4", "latest", false},
	} {
		t.Run(test.spec+" "+test.status, func(t *testing.T) {
			g := NewWithT(t)
			v := newView("v1beta2")
			set(v.controlPlane, test.spec, "spec.version")
			set(v.controlPlane, test.status, "status.version")
			g.Expect(reportsVersion(v, v.controlPlane) == nil).To(Equal(test.ok), "status.version")
			set(v.controlPlane, nil, "status.version")
			set(v.controlPlane, []any{map[string]any{"version": test.status}}, "status.versions")
			g.Expect(reportsVersion(v, v.controlPlane) == nil).To(Equal(test.ok), "status.versions")
		})
	}
}

func TestVersionsOfMachines(t *testing.T) {
	for _, test := range []struct {
		spec, machine, kubelet string
		ok                     bool
	}{
		{"1.31.4", "v1.31.4", "v1.31.4", true},
		{"v1.31.4+k0s.0", "v1.31.4+k0s.0", "v1.31.4+k0s", true},
		{"v1.31.4", "v1.31.3", "v1.31.4", false},
		{"v1.31.4", "v1.31.4", "v1.31.3", false},
		{"v1.31.4+k3s2", "v1.31.4+k3s1", "v1.31.4+k3s1", false},
		{"v1.31.4+k3s2", "v1.31.4+k3s2", "v1.31.4+k3s1", false},
	} {
		t.Run(test.spec+" "+test.machine+" "+test.kubelet, func(t *testing.T) {
			v := newView("v1beta2")
			set(v.controlPlane, test.spec, "spec.version")
			for i := range 3 {
				v.machines[i].Spec.Version = test.machine
				changeNode(v, v.machines[i].Name, func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = test.kubelet })
			}
			NewWithT(t).Expect(hasVersion(v, v.controlPlane) == nil).To(Equal(test.ok))
		})
	}
}

// Nobody but the API server of a hosted control plane can say which version it has.
func TestVersionWithoutNodes(t *testing.T) {
	for name, test := range map[string]struct {
		mutate func(*view)
		ok     bool
	}{
		"as wanted":          {func(*view) {}, true},
		"another patch":      {func(v *view) { v.apiServer = "v1.36.9-eks-5f6e1c1" }, true},
		"another minor":      {func(v *view) { v.apiServer = "v1.35.3" }, false},
		"no version":         {func(v *view) { v.apiServer = "" }, false},
		"Machines, no Nodes": {func(v *view) { v.apiServer, v.machines = "v1.35.3", newView("v1beta2").machines }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newView("v1beta2")
			v.machines = v.machines[3:]
			set(v.controlPlane, true, "status.externalManagedControlPlane")
			test.mutate(v)
			g.Expect(hasVersion(v, v.controlPlane) == nil).To(Equal(test.ok))
			v.unreachable = errors.New("no route to host")
			g.Expect(hasVersion(v, v.controlPlane)).To(MatchError(errUnknown))
		})
	}
}

func TestOrderOfVersions(t *testing.T) {
	for name, test := range map[string]struct {
		versions []string
		want     conformance.Status
	}{
		"in order":             {[]string{"v1.9.0", "v1.10.0", "v1.36.3"}, conformance.Passed},
		"by name":              {[]string{"v1.10.0", "v1.9.0"}, conformance.Failed},
		"the newest first":     {[]string{"v1.36.3", "v1.35.0"}, conformance.Failed},
		"a prerelease first":   {[]string{"v1.36.0-rc.0", "v1.36.0"}, conformance.Passed},
		"builds have no order": {[]string{"v1.36.0+b", "v1.36.0+a"}, conformance.Passed},
		"builds with numbers":  {[]string{"v1.31.4+k0s.1", "v1.31.4+k0s.0"}, conformance.Failed},
		"in order of builds":   {[]string{"v1.31.4+k0s.9", "v1.31.4+k0s.10"}, conformance.Passed},
		"the longer build":     {[]string{"v1.31.4+k0s.0", "v1.31.4+k0s"}, conformance.Failed},
		"short versions":       {[]string{"1.31", "1.30"}, conformance.Failed},
		"short and in order":   {[]string{"1.31", "v1.31.0", "1.32.0"}, conformance.Passed},
		"unreadable":           {[]string{"v1.36.0", "latest"}, conformance.Failed},
		"no version":           {[]string{"v1.36.0", "latest", "v1.35.0"}, conformance.Failed},
		"one version":          {[]string{"v1.36.3"}, ""},
		"none at all":          {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &story{Checker: &Checker{}}
			g.Expect(s.readRules()).To(Succeed())
			v := newView("v1beta2")
			var list []any
			for _, version := range test.versions {
				list = append(list, map[string]any{"version": version, "replicas": int64(1)})
			}
			set(v.controlPlane, list, "status.versions")
			s.checkOrder(v)
			if test.want == "" {
				g.Expect(s.results).To(BeEmpty())
				return
			}
			g.Expect(s.results).To(HaveLen(1))
			g.Expect(s.results[orderOfVersions].Status).To(Equal(test.want))
			// What was seen once stays, also after the change.
			set(v.controlPlane, []any{map[string]any{"version": testVersion}}, "status.versions")
			s.checkOrder(v)
			s.missing(orderOfVersions, conformance.NotRun, "never seen")
			g.Expect(s.results[orderOfVersions].Status).To(Equal(test.want))
		})
	}
}

func TestNotClaimed(t *testing.T) {
	g := NewWithT(t)
	v := newView("v1beta2")
	for _, m := range v.machines {
		set(m.infra, nil, "status.addresses")
		set(m.infra, nil, "status.failureDomain")
	}
	set(v.infra, nil, "status.failureDomains")
	set(v.infra, nil, "spec.controlPlaneEndpoint")
	v.cluster.Status.FailureDomains = nil
	set(v.controlPlane, nil, "spec.replicas")
	g.Expect(broken(v)).To(BeEmpty())
	c := &Checker{}
	g.Expect(c.readRules()).To(Succeed())
	v.judge(func(rule string, o *object, problem error) { c.record(rule, "v1beta2", "an object", problem) })
	for _, rule := range []string{"infrastructure-machine/addresses", "infrastructure-machine/failure-domain", "infrastructure-cluster/endpoint", "control-plane/replicas"} {
		g.Expect(c.results[rule]).To(HaveField("Status", conformance.NotClaimed), rule)
	}
	// What is seen later counts.
	c.record("infrastructure-machine/addresses", "v1beta2", "a", nil)
	g.Expect(c.results["infrastructure-machine/addresses"].Status).To(Equal(conformance.Passed))
	c.record("infrastructure-machine/addresses", "v1beta2", "a", errors.New("wrong"))
	c.record("infrastructure-machine/addresses", "v1beta2", "a", nil)
	g.Expect(c.results["infrastructure-machine/addresses"].Status).To(Equal(conformance.Failed))
}

// A provider surfaces the addresses it knows, such as only the one behind which a Node is.
func TestAddressesNeedNotBeThoseOfTheNode(t *testing.T) {
	g := NewWithT(t)
	v := newView("v1beta2")
	changeNode(v, "m0", func(n *corev1.Node) { n.Status.Addresses[0].Address = "10.0.0.1" })
	g.Expect(broken(v)).To(BeEmpty())
}

func TestAControlPlaneWithoutNodes(t *testing.T) {
	for _, contract := range conformance.Versions {
		g := NewWithT(t)
		v := newView(contract)
		for i := range 3 {
			delete(v.nodes, v.machines[i].Name)
			v.machines[i].Status.NodeRef.Name = ""
		}
		g.Expect(v.atRest()).To(MatchError(ContainSubstring(`Machine m0 has the Node ""`)))
		g.Expect(broken(v)).To(ContainElements("infrastructure-machine/provider-id", "control-plane/version"))

		set(v.controlPlane, true, "status.externalManagedControlPlane")
		g.Expect(v.atRest()).To(Succeed())
		g.Expect(broken(v)).To(BeEmpty())
		v.machines[3].Status.NodeRef.Name = ""
		g.Expect(v.atRest()).To(MatchError(ContainSubstring(`Machine m3 has the Node ""`)), "workers have Nodes")
		set(v.machines[1].infra, "demo://m0", "spec.providerID")
		g.Expect(broken(v)).To(ContainElement("infrastructure-machine/provider-id"))
	}
}

// What only the Nodes show is unknown if this machine cannot reach the cluster.
func TestUnreachableCluster(t *testing.T) {
	for _, contract := range conformance.Versions {
		t.Run(contract, func(t *testing.T) {
			g := NewWithT(t)
			v := newView(contract)
			v.unreachable, v.nodes = errors.New("no route to host"), map[string]corev1.Node{}
			g.Expect(broken(v)).To(ConsistOf("control-plane/kubeconfig-works"))
			s := &story{Checker: &Checker{}}
			g.Expect(s.readRules()).To(Succeed())
			v.judge(s.recordJudgement)
			for _, rule := range []string{"infrastructure-machine/provider-id", "infrastructure-machinepool/provider-id-list", "control-plane/version"} {
				g.Expect(s.results).To(HaveKeyWithValue(rule, And(HaveField("Status", conformance.NotRun), HaveField("Reason", ContainSubstring("no route to host")))))
			}

			// The rest is seen without Nodes.
			set(v.machines[0].infra, "demo://m1", "spec.providerID")
			v.machines[1].Spec.Version = "v1.35.0"
			g.Expect(broken(v)).To(ConsistOf("control-plane/kubeconfig-works", "infrastructure-machine/provider-id", "infrastructure-machine/provider-id", "control-plane/version"))
			set(v.machines[1].infra, nil, "spec.providerID")
			g.Expect(broken(v)).To(ContainElement("infrastructure-machine/provider-id"))
			for _, ids := range [][]any{{"demo://m3", "demo://m3"}, {"demo://m3"}, nil} {
				set(v.pools[0].infra, ids, "spec.providerIDList")
				g.Expect(broken(v)).To(ContainElement("infrastructure-machinepool/provider-id-list"))
			}
		})
	}
}

// Nodes that could not be read were not replaced, and neither were they kept.
func TestNodesOfAnUnreachableCluster(t *testing.T) {
	for name, unreachable := range map[string]func(before, after *view) *view{
		"before": func(before, _ *view) *view { return before },
		"after":  func(_, after *view) *view { return after },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, after := newView("v1beta2"), newView("v1beta2")
			v := unreachable(before, after)
			v.unreachable, v.nodes = errors.New("no route to host"), map[string]corev1.Node{}
			g.Expect(sameCluster(before, after)).To(MatchError(errUnknown))
			g.Expect(kept(before, after)).To(MatchError(errUnknown))
			delete(after.owns, "DemoMachine-m0")
			g.Expect(kept(before, after)).To(MatchError(HaveSuffix("replaced: DemoMachine m0")))
			after.machines = after.machines[1:]
			g.Expect(sameCluster(before, after)).To(MatchError(ContainSubstring("the Machines were")))
		})
	}
}

func TestDrainsThatCannotBeWatched(t *testing.T) {
	for name, test := range map[string]struct {
		mutate func(*view)
		want   error
	}{
		"unreachable":   {func(v *view) { v.unreachable = errors.New("no route to host") }, errUnknown},
		"no kubeconfig": {func(*view) {}, errUnknown},
		"no Machines":   {func(v *view) { v.machines = v.machines[:3] }, errNotClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView("v1beta2")
			test.mutate(v)
			_, err := v.hold(t.Context(), &v.pools[0])
			NewWithT(t).Expect(err).To(MatchError(test.want))
		})
	}
}

// What one pool does not have says nothing about another one, whose Nodes were not seen.
func TestUnseenNodesAreNotForgotten(t *testing.T) {
	const rule = poolDrain
	unknown := fmt.Errorf("%w: no route to host", errUnknown)
	for name, test := range map[string]struct {
		works  error
		seen   []error
		want   conformance.Status
		reason string
	}{
		"never seen":           {nil, []error{unknown}, conformance.Unfinished, "no route to host"},
		"another has none":     {nil, []error{errNotClaimed, unknown}, conformance.Unfinished, "no route to host"},
		"there is no other":    {nil, []error{errNotApplicable, unknown}, conformance.Unfinished, "no route to host"},
		"seen later":           {nil, []error{unknown, nil}, conformance.Passed, ""},
		"all have none":        {nil, []error{errNotClaimed}, conformance.NotClaimed, ""},
		"the kubeconfig fails": {errors.New("expired"), []error{unknown}, conformance.NotRun, "no route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &story{Checker: &Checker{}}
			g.Expect(s.readRules()).To(Succeed())
			s.record("control-plane/kubeconfig-works", "v1beta2", "DemoControlPlane", test.works)
			for _, problem := range test.seen {
				s.record(rule, "v1beta2", "DemoMachinePool", problem)
			}
			s.mindUnknown()
			g.Expect(s.results).To(HaveKeyWithValue(rule, And(HaveField("Status", test.want), HaveField("Reason", ContainSubstring(test.reason)))))
		})
	}
}

func TestUpgradeOfAnUnreachableCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, afterPatch(func(ctx context.Context, c client.Client, one *unstructured.Unstructured) error {
			m := &clusterv1.Machine{}
			err := c.Get(ctx, client.ObjectKey{Namespace: "live", Name: "m0"}, m)
			m.Spec.Version = fields.Text(one, "spec.version")
			err = errors.Join(err, c.Update(ctx, m))
			m.Status.NodeRef.Name = "m0"
			one.Object["status"] = map[string]any{"version": m.Spec.Version}
			return errors.Join(err, c.Status().Update(ctx, m), c.Update(ctx, one))
		}), map[string]any{"replicas": int64(1), "version": "v1.35.0"}, "m0")
		s.UpgradeTo = testVersion
		g.Expect(s.upgrade(t.Context())).To(Succeed())
		g.Expect(s.results).To(HaveKeyWithValue("control-plane/upgrade", HaveField("Status", conformance.NotRun)))
		g.Expect(s.results).To(HaveKeyWithValue("control-plane/status-version", HaveField("Status", conformance.Passed)))
	})
}

func TestTheVersionThatClusterAPIUses(t *testing.T) {
	g := NewWithT(t)
	kind := schema.GroupKind{Group: "demo.example.com", Kind: "DemoMachine"}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1_v2alpha1_v1beta2",
	}}}
	c := &Checker{crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{kind: crd}}
	version, contract, err := c.version(kind)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version).To(Equal(kind.WithVersion("v1")))
	g.Expect(contract).To(Equal("v1beta2"))
}

func TestComparisons(t *testing.T) {
	g := NewWithT(t)
	before, after := newView("v1beta2"), newView("v1beta2")
	g.Expect(unchanged(before, after)).To(Succeed())
	g.Expect(sameCluster(before, after)).To(Succeed())
	g.Expect(before.rebuilt(after.controlPlane)).To(Succeed())
	g.Expect(replaced(before, after)).To(MatchError(ContainSubstring("the Machine m0 is still there")))

	after.machines[0].UID = "new"
	g.Expect(unchanged(before, after)).NotTo(Succeed())
	g.Expect(replaced(before, after)).To(MatchError(ContainSubstring("the Machine m1 is still there")))
	after.machines[1].UID, after.machines[2].UID = "newer", "newest"
	g.Expect(replaced(before, after)).To(Succeed())
	g.Expect(sameCluster(before, after)).To(Succeed(), "a move gives Machines new UIDs")

	changeNode(after, "m0", func(n *corev1.Node) { n.UID = "new" })
	g.Expect(sameCluster(before, after)).To(MatchError(ContainSubstring("the Node m0 was replaced")))
	after.machines = after.machines[1:]
	g.Expect(sameCluster(before, after)).To(MatchError(ContainSubstring("the Machines were")))

	set(after.controlPlane, int64(2), "status.replicas")
	g.Expect(before.rebuilt(after.controlPlane)).To(MatchError(ContainSubstring("after the move: status.replicas of conformance was 3 before, and is 2")))
}

// A provider that fills a list map from a Go map has another order each time.
func TestRebuiltListsHaveNoOrder(t *testing.T) {
	g := NewWithT(t)
	before, after := newView("v1beta2"), newView("v1beta2")
	address := func(kind string) map[string]any { return map[string]any{"type": kind, "address": "192.0.2.10"} }
	set(before.machines[0].infra, []any{address("InternalIP"), address("ExternalIP")}, "status.addresses")
	set(after.machines[0].infra, []any{address("ExternalIP"), address("InternalIP")}, "status.addresses")
	g.Expect(before.rebuilt(after.machines[0].infra)).To(Succeed())
	slices.Reverse(fields.At(after.infra.Unstructured, "status.failureDomains").([]any))
	g.Expect(before.rebuilt(after.infra)).To(Succeed())
	slices.Reverse(fields.At(after.pools[0].infra.Unstructured, "spec.providerIDList").([]any))
	g.Expect(before.rebuilt(after.pools[0].infra)).To(Succeed())
	set(after.pools[0].infra, []any{"demo://m3"}, "spec.providerIDList")
	g.Expect(before.rebuilt(after.pools[0].infra)).To(MatchError(ContainSubstring(
		"spec.providerIDList of pool was - demo://m3 - demo://m4 before, and is - demo://m3")))

	versions := []any{map[string]any{"version": "v1.35.0"}, map[string]any{"version": testVersion}}
	set(before.controlPlane, versions, "status.versions")
	set(after.controlPlane, []any{versions[1], versions[0]}, "status.versions")
	g.Expect(before.rebuilt(after.controlPlane)).NotTo(Succeed(), "versions have an order")
}

func TestLabelled(t *testing.T) {
	g := NewWithT(t)
	v := newView("v1beta2")
	g.Expect(v.labelled("x")).To(MatchError(ContainSubstring("m0 has the labels")))
	for i := range 3 {
		v.machines[i].Labels["x"] = "yes"
	}
	g.Expect(v.labelled("x")).To(Succeed(), "only Machines must have it")
}

func TestDrains(t *testing.T) {
	now := metav1.NewTime(time.Now())
	for name, test := range map[string]struct {
		mutate func(*view, *corev1.Pod)
		want   string
	}{
		"nothing is deleted": {func(*view, *corev1.Pod) {}, "no Machine of the pool is being deleted"},
		"not cordoned yet":   {func(v *view, _ *corev1.Pod) { v.machines[3].DeletionTimestamp = &now }, "is not drained yet"},
		"draining": {func(v *view, p *corev1.Pod) {
			v.machines[3].DeletionTimestamp, p.DeletionTimestamp = &now, &now
			changeNode(v, "m3", func(n *corev1.Node) { n.Spec.Unschedulable = true })
		}, ""},
		"the instance is deleted first": {func(v *view, _ *corev1.Pod) {
			v.machines[3].DeletionTimestamp = &now
			v.machines[3].infra.SetDeletionTimestamp(&now)
		}, "the instance of the Machine m3 was deleted before its Node was drained"},
		"the Machine is gone": {func(v *view, _ *corev1.Pod) { v.machines = v.machines[:3] }, "the Machine m3 is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newView("v1beta2")
			members := v.machinesOf(&v.pools[0])
			pods := []*corev1.Pod{{}, {}}
			test.mutate(v, pods[0])
			err := v.drains(&v.pools[0], members, pods, func(*corev1.Pod) error { return nil })
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestBlockedMove(t *testing.T) {
	g := NewWithT(t)
	v := newView("v1beta2")
	g.Expect(v.blocking()).To(BeEmpty())
	v.namespaced[2].Annotations = map[string]string{blockMove: ""}
	waits := v.blocking()
	g.Expect(waits).To(HaveLen(1))
	g.Expect(v.unblocked(waits)).To(MatchError(ContainSubstring("DemoMachine m0 still has the annotation clusterctl.cluster.x-k8s.io/block-move")))
	g.Expect(newView("v1beta2").unblocked(waits)).To(Succeed())
	g.Expect(v.unblocked(nil)).To(Succeed(), "clusterctl does not wait for what asks too late")
	v.namespaced[2].OwnerReferences = nil
	g.Expect(v.blocking()).To(BeEmpty(), "it is not moved")
}

// Controllers add finalizers even while a Cluster is paused, but not to what is being deleted.
func TestMovedObjectsAreDeletedBeforeTheyLoseTheirFinalizers(t *testing.T) {
	g := NewWithT(t)
	scheme, err := NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "held", Finalizers: []string{"demo.example.com/held"}}}
	controller := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if err := c.Patch(ctx, object, patch, options...); err != nil {
			return err
		}
		if len(object.GetFinalizers()) > 0 || !object.GetDeletionTimestamp().IsZero() {
			return nil
		}
		object.SetFinalizers([]string{"demo.example.com/held"})
		return c.Update(ctx, object)
	}}
	s := &story{Checker: &Checker{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(secret).WithInterceptorFuncs(controller).Build()}}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), object)).To(Succeed())
	g.Expect(s.leave(t.Context(), []*unstructured.Unstructured{object})).To(Succeed())
	g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), object)).To(MatchError(ContainSubstring("not found")))
}

func TestUnknownProvidersAreRefused(t *testing.T) {
	g := NewWithT(t)
	scheme, err := NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{clusterv1.ProviderNameLabel: "infrastructure-demo"}}}
	c := &Checker{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{{}: crd}}
	for _, known := range [][]string{nil, {"infrastructure-demo"}} {
		c.Providers = known
		g.Expect(c.checkProviders(t.Context())).To(Succeed())
	}
	c.Providers = []string{"infrastructure-dmeo"}
	g.Expect(c.checkProviders(t.Context())).To(MatchError("the management cluster has nothing of the provider infrastructure-dmeo; it has infrastructure-demo"))
	c.Releases = &Releases{Versions: map[string]string{"infrastructure-dmeo": "v0.1.0"}}
	g.Expect(c.checkProviders(t.Context())).To(Succeed(), "it will be installed")
}

func TestExtensionsOfOthersAreNotJudged(t *testing.T) {
	scheme, err := NewScheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	label := map[string]string{clusterv1.ProviderNameLabel: "runtime-extension-demo"}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "hooks", Labels: label}}
	named := func(name string) runtimev1.ExtensionConfig {
		config := runtimev1.ExtensionConfig{}
		config.Spec.ClientConfig.Service = runtimev1.ServiceReference{Namespace: "demo", Name: name}
		return config
	}
	for name, test := range map[string]struct {
		extension runtimev1.ExtensionConfig
		providers []string
		want      bool
	}{
		"all count without a choice":  {runtimev1.ExtensionConfig{}, nil, true},
		"its label":                   {runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Labels: label}}, []string{"runtime-extension-demo"}, true},
		"the label of its Service":    {named("hooks"), []string{"runtime-extension-demo"}, true},
		"another provider is checked": {named("hooks"), []string{"infrastructure-demo"}, false},
		"no Service":                  {named("missing"), []string{"runtime-extension-demo"}, false},
		"a URL":                       {runtimev1.ExtensionConfig{}, []string{"runtime-extension-demo"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &story{Checker: &Checker{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(service).Build(), Providers: test.providers}}
			g.Expect(s.ownExtension(t.Context(), &test.extension)).To(Equal(test.want))
		})
	}
}

func TestCopied(t *testing.T) {
	g := NewWithT(t)
	machine := newObject("infrastructure-machine", "DemoMachine", "m0", "v1beta2", map[string]any{"providerID": "x"}, map[string]any{})
	machine.SetResourceVersion("5")
	machine.SetFinalizers([]string{"demo"})
	machine.SetOwnerReferences([]metav1.OwnerReference{{Name: "moved", UID: "old"}, {Name: "left", UID: "left"}})
	one := copied(machine.Unstructured, map[types.UID]types.UID{"old": "new"})
	g.Expect(one.Object).NotTo(HaveKey("status"))
	g.Expect(one.GetResourceVersion()).To(BeEmpty())
	g.Expect(one.GetUID()).To(BeEmpty())
	g.Expect(one.GetFinalizers()).To(Equal([]string{"demo"}))
	g.Expect(one.GetOwnerReferences()).To(HaveExactElements(HaveField("UID", types.UID("new"))))
	g.Expect(fields.Text(one, "spec.providerID")).To(Equal("x"))
}

func TestOrderedHasOwnersFirst(t *testing.T) {
	g := NewWithT(t)
	byUID := map[types.UID]*unstructured.Unstructured{}
	for name, owner := range map[string]string{"a": "c", "b": "", "c": "b"} {
		one := &unstructured.Unstructured{Object: map[string]any{}}
		one.SetUID(types.UID(name))
		one.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(owner)}})
		byUID[one.GetUID()] = one
	}
	var order []string
	for _, one := range ordered(byUID) {
		order = append(order, string(one.GetUID()))
	}
	g.Expect(order).To(Equal([]string{"b", "c", "a"}))
}
