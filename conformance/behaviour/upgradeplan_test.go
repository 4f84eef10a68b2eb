// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestUpgradePlans(t *testing.T) {
	for name, test := range map[string]struct {
		from, workers, to string
		controlPlane      []string
		of                []string
		want              string
	}{
		"each minor":                  {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, nil, ""},
		"nothing to do":               {"v1.36.3", "v1.36.3", "v1.36.3", nil, nil, ""},
		"another build":               {"v1.36.3+a", "v1.36.3+a", "v1.36.3+b", []string{"v1.36.3+b"}, nil, ""},
		"a newer build":               {"v1.36.3+k3s.1", "v1.36.3+k3s.1", "v1.36.3+k3s.2", []string{"v1.36.3+k3s.2"}, nil, ""},
		"workers too":                 {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, []string{"v1.35.4", "v1.36.3"}, ""},
		"workers first":               {"v1.34.1", "v1.33.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, []string{"v1.34.1", "v1.36.3"}, ""},
		"workers only":                {"v1.36.3", "v1.35.4", "v1.36.3", nil, []string{"v1.36.3"}, ""},
		"no workers":                  {"v1.34.1", "", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, nil, ""},
		"steps without workers":       {"v1.34.1", "", "v1.35.4", []string{"v1.35.4"}, []string{"v1.35.4"}, "no workers"},
		"steps of upgraded workers":   {"v1.35.4", "v1.36.3", "v1.36.3", []string{"v1.36.3"}, []string{"v1.36.3"}, "no workers"},
		"nothing planned":             {"v1.34.1", "v1.34.1", "v1.36.3", nil, nil, "ends with 1.34.1"},
		"more than nothing to do":     {"v1.36.3+a", "v1.36.3+a", "v1.36.3+a", []string{"v1.36.3+b", "v1.36.3+a"}, nil, "has the wanted version"},
		"a minor left out":            {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.36.3"}, nil, "1.36.3 follows 1.34.1"},
		"not in order":                {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.35.1", "v1.36.3"}, nil, "v1.35.1 is not newer than 1.35.4"},
		"an older build":              {"v1.36.3+k3s.1", "v1.36.3+k3s.1", "v1.36.3+k3s.2", []string{"v1.36.3+k3s.3", "v1.36.3+k3s.2"}, nil, "v1.36.3+k3s.2 is not newer than 1.36.3+k3s.3"},
		"back to an older build":      {"v1.36.3+k3s.2", "v1.36.3+k3s.2", "v1.36.3+k3s.1", []string{"v1.36.3+k3s.1"}, nil, "v1.36.3+k3s.1 is not newer than 1.36.3+k3s.2"},
		"back to no build":            {"v1.36.3+a", "v1.36.3+a", "v1.36.3", []string{"v1.36.3"}, nil, "v1.36.3 is not newer than 1.36.3+a"},
		"too far":                     {"v1.34.1", "v1.34.1", "v1.35.3", []string{"v1.35.4"}, nil, "ends with 1.35.4, and the wanted version is 1.35.3"},
		"no version":                  {"v1.34.1", "v1.34.1", "v1.36.3", []string{"latest"}, nil, "controlPlaneUpgrades"},
		"workers elsewhere":           {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, []string{"v1.35.1", "v1.36.3"}, "v1.35.1 is no step of the control plane"},
		"workers in other words":      {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, []string{"1.35.4", "v1.36.3"}, "1.35.4 is no step of the control plane"},
		"workers end too early":       {"v1.34.1", "v1.34.1", "v1.36.3", []string{"v1.35.4", "v1.36.3"}, []string{"v1.35.4"}, "ends with 1.35.4"},
		"workers that stay too old":   {"v1.32.1", "v1.32.1", "v1.36.3", []string{"v1.33.1", "v1.34.1", "v1.35.4", "v1.36.3"}, []string{"v1.36.3"}, "1.36.3 follows 1.32.1"},
		"workers that keep the skew":  {"v1.32.1", "v1.32.1", "v1.36.3", []string{"v1.33.1", "v1.34.1", "v1.35.4", "v1.36.3"}, []string{"v1.33.1", "v1.36.3"}, ""},
		"workers with another build":  {"v1.36.3+a", "v1.36.3+a", "v1.36.3+c", []string{"v1.36.3+b", "v1.36.3+c"}, []string{"v1.36.3+b", "v1.36.3+c"}, ""},
		"builds of workers elsewhere": {"v1.36.3+a", "v1.36.3+a", "v1.36.3+c", []string{"v1.36.3+c"}, []string{"v1.36.3+b", "v1.36.3+c"}, "v1.36.3+b is no step"},
		"builds in another order":     {"v1.36.3+a", "v1.36.3+b", "v1.36.3+c", []string{"v1.36.3+b", "v1.36.3+c"}, []string{"v1.36.3+a", "v1.36.3+c"}, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			asked, err := upgradeOf(&runtimehooksv1.GenerateUpgradePlanRequest{
				FromControlPlaneKubernetesVersion: test.from, FromWorkersKubernetesVersion: test.workers, ToKubernetesVersion: test.to,
			})
			g.Expect(err).NotTo(HaveOccurred())
			err = asked.check(&runtimehooksv1.GenerateUpgradePlanResponse{ControlPlaneUpgrades: upgrades(test.controlPlane), WorkersUpgrades: upgrades(test.of)})
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func upgrades(versions []string) []runtimehooksv1.UpgradeStep {
	var steps []runtimehooksv1.UpgradeStep
	for _, version := range versions {
		steps = append(steps, runtimehooksv1.UpgradeStep{Version: version})
	}
	return steps
}

// The extension plans v1.35.4 and v1.36.3, and so for workers unless there are none.
func TestRequestsForAnUpgradePlan(t *testing.T) {
	for name, test := range map[string]struct {
		request map[string]any
		want    conformance.Status
		reason  string
	}{
		"of a Cluster without workers":         {map[string]any{"fromControlPlaneKubernetesVersion": "v1.34.1", "fromWorkersKubernetesVersion": ""}, conformance.Passed, ""},
		"of workers as old as a control plane": {map[string]any{"fromControlPlaneKubernetesVersion": "v1.34.1"}, conformance.Passed, ""},
		"of no version":                        {map[string]any{"fromControlPlaneKubernetesVersion": "oldest"}, conformance.Unfinished, "requests: GenerateUpgradePlan: fromControlPlaneKubernetesVersion"},
		"of workers of no version": {
			map[string]any{"fromControlPlaneKubernetesVersion": "v1.34.1", "fromWorkersKubernetesVersion": "oldest"},
			conformance.Unfinished, "requests: GenerateUpgradePlan: fromWorkersKubernetesVersion",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			test.request["toKubernetesVersion"] = "v1.36.3"
			results := answersTo(t, g, servePatches(t, ""), map[string][]map[string]any{"GenerateUpgradePlan": {test.request}})
			g.Expect(results).To(ContainElement(And(
				HaveField("Rule", "runtime-extension/upgrade-plan"), HaveField("Status", test.want), HaveField("Reason", ContainSubstring(test.reason)),
			)))
		})
	}
}
