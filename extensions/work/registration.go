// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errUnregistered is the error for a call with settings that no ExtensionConfig has, so nobody with
// permission to register extensions chose them.
var errUnregistered = errors.New("no ExtensionConfig has its settings")

// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=get;list;watch

// configOf returns the name of an ExtensionConfig that has the settings of a call, since the call
// does not name it. If there are several, it returns last if that is one of them, and otherwise the
// first by name.
func configOf(ctx context.Context, from client.Reader, settings map[string]string, last string) (string, error) {
	var configs runtimev1.ExtensionConfigList
	if err := from.List(ctx, &configs); err != nil {
		return "", fmt.Errorf("listing ExtensionConfigs: %w", err)
	}
	var names []string
	for i := range configs.Items {
		if maps.Equal(configs.Items[i].Spec.Settings, settings) {
			names = append(names, configs.Items[i].Name)
		}
	}
	switch {
	case len(names) == 0:
		return "", errUnregistered
	case slices.Contains(names, last):
		return last, nil
	}
	return slices.Min(names), nil
}

// settingsOf returns the settings of an ExtensionConfig, and reports whether it exists.
func settingsOf(ctx context.Context, from client.Reader, name string) (map[string]string, bool, error) {
	config := &runtimev1.ExtensionConfig{}
	err := from.Get(ctx, client.ObjectKey{Name: name}, config)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the ExtensionConfig: %w", err)
	}
	return config.Spec.Settings, true, nil
}
