// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// An extension is what Kubernetes sends requests to. What other Pods may do breaks none of its rules.
func TestDeploymentsThatServeNoExtension(t *testing.T) {
	const deployment, node = "Deployment demo-controller-manager", "/spec/template/spec/hostNetwork"
	for name, test := range map[string]struct {
		change mutant
		want   conformance.Status
	}{
		"one behind a Service without a selector": {
			mutant{Object: "Service demo-webhook", Set: map[string]any{"/spec/selector": nil}, Also: []mutant{{Object: deployment, Set: map[string]any{node: true}}}},
			conformance.NotApplicable,
		},
		"one in another namespace": {
			mutant{Object: deployment, Copy: true, Set: map[string]any{"/metadata/namespace": "other-system", "/spec/template/spec/serviceAccountName": nil, node: true}, Also: []mutant{
				{Object: "ClusterRoleBinding demo-manager", Copy: true, Set: map[string]any{
					"/metadata/name": "other", "/subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "default", "namespace": "other-system"}},
				}},
			}},
			conformance.Passed,
		},
		"one whose rights come from a group of another namespace": {
			mutant{Object: "ClusterRoleBinding demo-manager", Copy: true, Set: map[string]any{
				"/metadata/name": "other", "/roleRef/name": "cluster-admin", "/subjects": []any{map[string]any{"kind": "Group", "name": "system:serviceaccounts:other-system"}},
			}},
			conformance.Passed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
			test.change.apply(g, filepath.Join(dir, release))
			for _, rule := range []string{"runtime-extension/identity", "runtime-extension/privileges"} {
				g.Expect(outcomes(check(t, g, dir))[rule]).To(Equal(test.want), rule)
			}
		})
	}
}
