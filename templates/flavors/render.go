// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package flavors

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/repository"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
)

// Render processes a template with clusterctl's own library: it replaces the variables and puts the
// objects into the namespace. It returns clusterctl's error, which names what is missing.
func (t Template) Render(ctx context.Context, namespace string, variables map[string]string) ([]unstructured.Unstructured, error) {
	reader := config.NewMemoryReader()
	settings, err := config.New(ctx, "", config.InjectReader(reader))
	if err != nil {
		return nil, err
	}
	for name, value := range variables {
		reader.Set(name, value)
	}
	rendered, err := repository.NewTemplate(repository.TemplateInput{
		RawArtifact: t.Content, ConfigVariablesClient: settings.Variables(),
		Processor: yamlprocessor.NewSimpleProcessor(), TargetNamespace: namespace,
	})
	if err != nil {
		return nil, err
	}
	return rendered.Objs(), nil
}
