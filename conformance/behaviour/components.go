// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// installed are the kinds of components that matter to a program outside of a cluster.
var installed = []string{
	"Namespace", "ServiceAccount", "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
	"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
}

// readManifests reads files, and the files in folders, that end in .yaml.
func readManifests(paths []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := decode(content)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, found...)
		}
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no objects in %v", paths)
	}
	return objects, nil
}

// decode reads the objects that are installed; it skips kustomizations.
func decode(content []byte) ([]*unstructured.Unstructured, error) {
	objects, err := fields.Decode(content)
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return !slices.Contains(installed, object.GetKind())
	}), err
}

// definedKinds returns the kinds that the CRDs among objects define.
func definedKinds(objects []*unstructured.Unstructured) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			kinds = append(kinds, schema.GroupKind{Group: fields.Text(object, "spec.group"), Kind: fields.Text(object, "spec.names.kind")})
		}
	}
	return kinds
}

// redirect makes the API server call webhooks at a URL instead of at a Service.
func redirect(object *unstructured.Unstructured, url string, ca []byte) {
	if client, ok := fields.Get(object.Object, "spec", "conversion", "webhook", "clientConfig").(map[string]any); ok {
		redirectClient(client, url, ca)
	}
	webhooks, _ := fields.Get(object.Object, "webhooks").([]any)
	for _, webhook := range webhooks {
		if client, ok := fields.Get(webhook, "clientConfig").(map[string]any); ok {
			redirectClient(client, url, ca)
		}
	}
}

func redirectClient(client map[string]any, url string, ca []byte) {
	if _, ok := client["service"]; !ok {
		return
	}
	path, _ := fields.Get(client, "service", "path").(string)
	delete(client, "service")
	client["url"], client["caBundle"] = url+path, base64.StdEncoding.EncodeToString(ca)
}

// aggregate fills the ClusterRoles that a controller would fill, from the other objects.
func aggregate(objects []*unstructured.Unstructured) error {
	roles, err := clusterRoles(objects)
	if err != nil {
		return err
	}
	for _, role := range roles {
		if role.AggregationRule == nil {
			continue
		}
		if err := role.fill(roles); err != nil {
			return fmt.Errorf("ClusterRole %s: %w", role.Name, err)
		}
	}
	return nil
}

// clusterRole is a ClusterRole with the object it was read from.
type clusterRole struct {
	rbacv1.ClusterRole

	object *unstructured.Unstructured
}

func clusterRoles(objects []*unstructured.Unstructured) ([]*clusterRole, error) {
	var roles []*clusterRole
	for _, object := range objects {
		if object.GetKind() != "ClusterRole" {
			continue
		}
		role := &clusterRole{object: object}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role.ClusterRole); err != nil {
			return nil, fmt.Errorf("ClusterRole %s: %w", object.GetName(), err)
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// fill takes the rules of the roles that the aggregation rule selects.
func (r *clusterRole) fill(roles []*clusterRole) error {
	for _, selector := range r.AggregationRule.ClusterRoleSelectors {
		matches, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			return err
		}
		for _, other := range roles {
			if other.AggregationRule == nil && matches.Matches(labels.Set(other.Labels)) {
				r.Rules = append(r.Rules, other.Rules...)
			}
		}
	}
	r.AggregationRule = nil
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&r.ClusterRole)
	if err != nil {
		return err
	}
	r.object.Object = content
	return nil
}

// serviceAccount returns the user name of the ServiceAccount with the name among the objects; empty if
// there is none. Without a name, there must not be several.
func serviceAccount(objects []*unstructured.Unstructured, name string) (string, error) {
	user := ""
	var names []string
	for _, object := range objects {
		if object.GetKind() != "ServiceAccount" {
			continue
		}
		names = append(names, object.GetName())
		if name == "" || name == object.GetName() {
			user = "system:serviceaccount:" + object.GetNamespace() + ":" + object.GetName()
		}
	}
	switch {
	case name == "" && len(names) > 1:
		return "", fmt.Errorf("the components have the ServiceAccounts %s: name the one of the program in serviceAccount", strings.Join(names, ", "))
	case name != "" && user == "":
		return "", fmt.Errorf("the components have no ServiceAccount %s; they have %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	default:
		return user, nil
	}
}
