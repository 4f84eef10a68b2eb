//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// takeRight removes one permission from a ClusterRole until the returned function is called.
func (m *management) takeRight(ctx context.Context, role, verb, resource string) func() {
	GinkgoHelper()
	complete := m.clusterRole(ctx, role)
	broken := complete.DeepCopy()
	broken.Rules = rulesWithout(complete.Rules, verb, resource)
	Expect(broken.Rules).NotTo(Equal(complete.Rules), "%s has no permission to %s %s", role, verb, resource)
	Expect(m.Update(ctx, broken)).To(Succeed())
	return func() {
		GinkgoHelper()
		now := m.clusterRole(ctx, role)
		now.Rules = complete.Rules
		Expect(m.Update(ctx, now)).To(Succeed())
	}
}

func (m *management) clusterRole(ctx context.Context, name string) *rbacv1.ClusterRole {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(m.Get(ctx, client.ObjectKey{Name: name}, role)).To(Succeed())
	return role
}

// rulesWithout returns the rules without one verb on one resource.
func rulesWithout(rules []rbacv1.PolicyRule, verb, resource string) []rbacv1.PolicyRule {
	without := func(all []string, one string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(other string) bool { return other == one })
	}
	var result []rbacv1.PolicyRule
	for _, rule := range rules {
		if !slices.Contains(rule.Resources, resource) || !slices.Contains(rule.Verbs, verb) {
			result = append(result, rule)
			continue
		}
		others, rest := rule.DeepCopy(), rule.DeepCopy()
		others.Resources = without(rule.Resources, resource)
		rest.Resources, rest.Verbs = []string{resource}, without(rule.Verbs, verb)
		for _, one := range []*rbacv1.PolicyRule{others, rest} {
			if len(one.Resources) > 0 && len(one.Verbs) > 0 {
				result = append(result, *one)
			}
		}
	}
	return result
}
