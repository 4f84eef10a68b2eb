// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

// This file calls an extension as Cluster API does.

const (
	fromControlPlane = "fromControlPlaneKubernetesVersion"
	fromWorkers      = "fromWorkersKubernetesVersion"
)

// checkRequests returns an error if the configuration has requests that no handler gets.
func (e *extension) checkRequests(handlers []runtimehooksv1.ExtensionHandler) error {
	for _, hook := range slices.Sorted(maps.Keys(e.checker.Config.Kinds[RuntimeExtension].Requests)) {
		if !slices.ContainsFunc(handlers, func(h runtimehooksv1.ExtensionHandler) bool { return h.RequestHook.Hook == hook }) {
			return fmt.Errorf("requests in the configuration: no handler answers the hook %s", hook)
		}
	}
	return nil
}

// requests returns requests for a hook: one about a small Cluster, and those that the configuration makes of it.
func (e *extension) requests(hook runtimecatalog.GroupVersionHook) ([]runtime.Object, error) {
	request, err := e.request(hook)
	if err != nil {
		return nil, err
	}
	all := []runtime.Object{request}
	for _, content := range e.checker.Config.Kinds[RuntimeExtension].Requests[hook.Hook] {
		changed, err := e.request(hook)
		if err != nil {
			return nil, err
		}
		copied, err := e.substitute(content)
		if err != nil {
			return nil, err
		}
		// Workers are as old as the control plane unless the configuration says otherwise.
		if version, found := copied[fromControlPlane]; found && copied[fromWorkers] == nil {
			copied[fromWorkers] = version
		}
		encoded, err := json.Marshal(copied)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(changed); err != nil {
			return nil, fmt.Errorf("requests in the configuration: %s: %w", hook.Hook, err)
		}
		all = append(all, changed)
	}
	return all, nil
}

// isEmpty reports whether a request has no templates although its hook is about them.
func isEmpty(request runtime.Object) bool {
	switch about := request.(type) {
	case *runtimehooksv1.GeneratePatchesRequest:
		return len(about.Items) == 0
	case *runtimehooksv1.ValidateTopologyRequest:
		return len(about.Items) == 0
	default:
		return false
	}
}

// request returns a request for a hook about a small Cluster.
func (e *extension) request(hook runtimecatalog.GroupVersionHook) (runtime.Object, error) {
	request, err := e.catalog.NewRequest(hook)
	if err != nil {
		return nil, err
	}
	version := e.checker.Config.prefixedVersion()
	cluster := clusterv1.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "conformance", UID: "5b5a8b2c-0000-4000-8000-000000000000"},
		Spec:       clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: version}},
	}
	// Each kind of request takes what it has.
	fields, err := json.Marshal(map[string]any{
		"cluster": cluster, "kubernetesVersion": version, "fromKubernetesVersion": version, "toKubernetesVersion": version,
		fromControlPlane: version, fromWorkers: version, "settings": map[string]string{},
		"variables": []any{}, "items": []any{},
	})
	if err != nil {
		return nil, err
	}
	return request, json.Unmarshal(fields, request)
}

// call calls a handler and returns its answer.
func (e *extension) call(hook runtimecatalog.GroupVersionHook, name string, request runtime.Object) (runtime.Object, error) {
	kind, err := e.catalog.Request(hook)
	if err != nil {
		return nil, err
	}
	request.GetObjectKind().SetGroupVersionKind(kind)
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	status, content, err := e.post(runtimecatalog.GVHToPath(hook, name), body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("it answers with the HTTP status %d: %.200s", status, content)
	}
	response, err := e.catalog.NewResponse(hook)
	if err != nil {
		return nil, err
	}
	// Cluster API ignores what it does not know, such as fields of newer versions.
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(response); err != nil {
		return nil, fmt.Errorf("the answer is no %T: %w", response, err)
	}
	return response, nil
}

func (e *extension) post(path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(e.ctx, maxTimeout*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, content, err
}

// callBadly sends what is no request. Any answer but a success will do.
func (e *extension) callBadly(hook runtimecatalog.GroupVersionHook, name string) error {
	for _, body := range []string{"", "{", `[1]`} {
		status, content, err := e.post(runtimecatalog.GVHToPath(hook, name), []byte(body))
		if err != nil {
			return fmt.Errorf("the request %q gets no answer: %w", body, err)
		}
		var answer struct{ Status runtimehooksv1.ResponseStatus }
		if json.Unmarshal(content, &answer) == nil && status == http.StatusOK && answer.Status == runtimehooksv1.ResponseStatusSuccess {
			return fmt.Errorf("the request %q gets a success", body)
		}
	}
	return nil
}
