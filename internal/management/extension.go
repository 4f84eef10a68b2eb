// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Register makes Cluster API call the hooks of a provider that is a runtime extension, and returns
// once Cluster API knows them. Call it once the provider and Cluster API's core are running. For
// any other provider it does nothing.
func (p *InstalledProvider) Register(ctx context.Context) error {
	if p.provider.ExtensionConfig == "" {
		return nil
	}
	objects, err := readComponents(p.provider.ExtensionConfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := runtimev1.AddToScheme(scheme); err != nil {
		return err
	}
	kube, err := client.NewWithWatch(p.cluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	names := sets.New[string]()
	for _, object := range objects {
		if err := p.redirect(object); err != nil {
			return err
		}
		if err := apply(ctx, kube, object); err != nil {
			return err
		}
		names.Insert(object.GetName())
	}
	return waitFor(ctx, kube, &runtimev1.ExtensionConfigList{}, names, func(object client.Object) bool {
		config, ok := object.(*runtimev1.ExtensionConfig)
		return ok && conditions.IsTrue(config, runtimev1.ExtensionConfigDiscoveredCondition)
	})
}

// redirect makes an ExtensionConfig name the process instead of a Service, and adds the settings.
func (p *InstalledProvider) redirect(config *unstructured.Unstructured) error {
	config.SetAnnotations(nil)
	if err := unstructured.SetNestedMap(config.Object, map[string]any{
		"url": p.url, "caBundle": base64.StdEncoding.EncodeToString(p.cluster.authority.pem()),
	}, "spec", "clientConfig"); err != nil {
		return fmt.Errorf("ExtensionConfig %s: %w", config.GetName(), err)
	}
	if err := unstructured.SetNestedStringMap(config.Object, p.provider.Settings, "spec", "settings"); err != nil {
		return fmt.Errorf("ExtensionConfig %s: %w", config.GetName(), err)
	}
	return nil
}
