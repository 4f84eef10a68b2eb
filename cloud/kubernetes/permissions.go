// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// permissions are what the token must permit in the namespace.
var permissions = []struct {
	resource string
	verbs    []string
}{
	{"namespaces", []string{"get"}},
	{"configmaps", []string{"get"}},
	{"pods", []string{"get", "list", "watch", "create", "patch", "delete"}},
	{"secrets", []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
	{"services", []string{"get", "list", "watch", "create", "update", "delete"}},
	{"resourcequotas", []string{"list"}},
}

// Check returns an UnauthorizedError that lists what the token does not permit, and any other error
// that keeps the namespace from being used.
func (c *Cloud) Check(ctx context.Context) error {
	review, err := c.reviews.SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: c.namespace},
	}, metav1.CreateOptions{})
	if err != nil {
		return c.translate(err)
	}
	// Some authorizers cannot list their rules. Then only the calls themselves can tell.
	if missing := c.denied(review.Status.ResourceRules); len(missing) > 0 && !review.Status.Incomplete {
		return &cloud.UnauthorizedError{Message: fmt.Sprintf("in namespace %s, the token is not allowed to: %s", c.namespace, strings.Join(missing, ", "))}
	}
	_, err = c.catalog(ctx)
	return err
}

// denied returns what the rules do not permit, as "verb resource".
func (c *Cloud) denied(given []authorizationv1.ResourceRule) []string {
	var missing []string
	for _, wanted := range permissions {
		for _, verb := range wanted.verbs {
			if !c.permitted(given, wanted.resource, verb) {
				missing = append(missing, verb+" "+wanted.resource)
			}
		}
	}
	return missing
}

func (c *Cloud) permitted(given []authorizationv1.ResourceRule, resource, verb string) bool {
	for _, rule := range given {
		named := len(rule.ResourceNames) == 0 || resource == "configmaps" && slices.Contains(rule.ResourceNames, ConfigName) ||
			resource == "namespaces" && slices.Contains(rule.ResourceNames, c.namespace)
		if named && has(rule.APIGroups, "") && has(rule.Resources, resource) && has(rule.Verbs, verb) {
			return true
		}
	}
	return false
}

func has(values []string, value string) bool {
	return slices.Contains(values, value) || slices.Contains(values, "*")
}
