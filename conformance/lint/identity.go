// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// providerName is how clusterctl wants the name of a provider, without its type.
var providerName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func checkProviderName(r *Release) []subject {
	label := r.provider()
	prefix := providerType(label)
	name := label
	if strings.HasSuffix(prefix, "-") {
		name = strings.TrimPrefix(label, prefix)
	}
	components := r.of(Components)
	if prefix == "" || len(components) == 0 { // provider-label-value reports it
		return nil
	}
	if providerName.MatchString(name) {
		return []subject{of(components[0].object())}
	}
	return []subject{of(components[0].object(), fmt.Sprintf("the label cluster.x-k8s.io/provider is %q, whose name %q is not 1 to 63 of a-z, 0-9 and -, without a dash at its ends", label, name))}
}

// checkExtensionIdentity looks at the ServiceAccounts of what the Services of the extensions select.
func checkExtensionIdentity(r *Release) []subject {
	if r.Cluster { // not all ServiceAccounts and bindings are read
		return nil
	}
	return eachBackend(r, func(deployment Object) []string {
		account := accountOf(deployment)
		var messages []string
		for _, other := range slices.Concat(r.objects("Deployment"), r.objects("StatefulSet"), r.objects("DaemonSet")) {
			if other.name() != deployment.name() && other.GetNamespace() == deployment.GetNamespace() && accountOf(other) == account && account != defaultAccount {
				messages = append(messages, fmt.Sprintf("shares the ServiceAccount %s with the %s", account, other.name()))
			}
		}
		for _, binding := range slices.Concat(r.objects("ClusterRoleBinding"), r.objects("RoleBinding")) {
			switch {
			case !binds(binding, account, deployment.GetNamespace()):
			case account == defaultAccount:
				messages = append(messages, fmt.Sprintf("has the rights of the %s %s by the ServiceAccount default, want a ServiceAccount of its own", binding.GetKind(), binding.GetName()))
			case r.unlimited(binding):
				messages = append(messages, fmt.Sprintf("has all rights by the %s %s", binding.GetKind(), binding.GetName()))
			}
		}
		return messages
	})
}

const defaultAccount = "default"

// accountOf returns the ServiceAccount of a workload's Pods. As in Kubernetes, the deprecated alias counts
// only without the name.
func accountOf(workload Object) string {
	name, alias := workload.string("spec", "template", "spec", "serviceAccountName"), workload.string("spec", "template", "spec", "serviceAccount")
	return cmp.Or(name, alias, defaultAccount)
}

// binds reports whether a binding gives rights to a ServiceAccount, by its name or as one of a group.
func binds(binding Object, account, namespace string) bool {
	return slices.ContainsFunc(binding.objects("subjects"), func(s map[string]any) bool {
		switch s["kind"] {
		case "ServiceAccount":
			return s["name"] == account && s["namespace"] == namespace
		case "Group":
			return s["name"] == "system:serviceaccounts" || s["name"] == "system:serviceaccounts:"+namespace
		default:
			return false
		}
	})
}

// unlimited reports whether a binding gives all rights.
func (r *Release) unlimited(binding Object) bool {
	kind, name := binding.string("roleRef", "kind"), binding.string("roleRef", "name")
	if kind == "ClusterRole" && name == "cluster-admin" {
		return true
	}
	namespace := ""
	if kind == "Role" {
		namespace = binding.GetNamespace()
	}
	role := r.object(kind, namespace, name)
	return role != nil && slices.ContainsFunc(role.objects("rules"), everything)
}

// everything reports whether a rule of a role allows everything.
func everything(rule map[string]any) bool {
	return allows(rule, "apiGroups", "*") && allows(rule, "resources", "*") && allows(rule, "verbs", "*")
}

// eachBackend applies a check to the Deployments that the Services of the extensions select.
func eachBackend(r *Release, check func(Object) []string) []subject {
	var subjects []subject
	for _, config := range r.objects("ExtensionConfig") {
		service, _ := extensionService(r, config)
		if service == nil {
			continue
		}
		selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
		if len(selector) == 0 { // it selects nothing
			continue
		}
		for _, deployment := range r.objects("Deployment") {
			if deployment.GetNamespace() == service.GetNamespace() && selects(selector, deployment) {
				subjects = append(subjects, of(deployment, check(deployment)...))
			}
		}
	}
	return subjects
}
