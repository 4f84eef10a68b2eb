// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
)

// podOnly lists the kinds of components that only make sense for a provider that runs in a pod.
var podOnly = map[string]bool{
	"Deployment": true, "PodDisruptionBudget": true, "NetworkPolicy": true, "Secret": true,
	"Service": true, "Certificate": true, "Issuer": true, "LimitRange": true,
}

// readComponents reads the components of a provider except those of podOnly kinds.
func readComponents(path string) ([]*unstructured.Unstructured, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read components: %w", err)
	}
	all, err := utilyaml.ToUnstructured(content)
	if err != nil {
		return nil, fmt.Errorf("read components %s: %w", path, err)
	}
	var objects []*unstructured.Unstructured
	for i := range all {
		if !podOnly[all[i].GetKind()] {
			objects = append(objects, &all[i])
		}
	}
	return objects, nil
}

// webhookServer is the server of a provider's webhooks.
type webhookServer struct {
	// url without a path.
	url string
	// ca that signed its certificate, PEM.
	ca []byte
}

// redirect makes the API server call the webhooks of CRDs and webhook configurations at the server
// instead of through a Service. It returns the number of changes, and leaves objects of other kinds
// as they are.
func (w webhookServer) redirect(object *unstructured.Unstructured) (int, error) {
	switch object.GetKind() {
	case "CustomResourceDefinition":
		return w.redirectClient(object.Object, "spec", "conversion", "webhook", "clientConfig")
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return w.redirectWebhooks(object)
	default:
		return 0, nil
	}
}

func (w webhookServer) redirectWebhooks(object *unstructured.Unstructured) (int, error) {
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return 0, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	changed := 0
	for _, webhook := range webhooks {
		fields, ok := webhook.(map[string]any)
		if !ok {
			return 0, fmt.Errorf("%s %s: a webhook is a %T, not an object", object.GetKind(), object.GetName(), webhook)
		}
		count, err := w.redirectClient(fields, "clientConfig")
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		changed += count
	}
	return changed, unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

// redirectClient rewrites one clientConfig that names a Service.
func (w webhookServer) redirectClient(fields map[string]any, path ...string) (int, error) {
	service, found, err := unstructured.NestedMap(fields, append(path, "service")...)
	if err != nil || !found {
		return 0, err
	}
	servicePath, _, err := unstructured.NestedString(service, "path")
	if err != nil {
		return 0, err
	}
	return 1, unstructured.SetNestedMap(fields, map[string]any{
		"url":      w.url + servicePath,
		"caBundle": base64.StdEncoding.EncodeToString(w.ca),
	}, path...)
}

// serviceAccountUser returns the user name of the service account among the components.
func serviceAccountUser(objects []*unstructured.Unstructured) (string, error) {
	for _, object := range objects {
		if object.GetKind() == "ServiceAccount" {
			return "system:serviceaccount:" + object.GetNamespace() + ":" + object.GetName(), nil
		}
	}
	return "", errors.New("the components have no ServiceAccount to run as")
}
