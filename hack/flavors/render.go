/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package flavors

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/repository"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
)

// Render does what clusterctl does with a template, by clusterctl's own library: it replaces the variables, and puts the objects
// into the namespace. It returns clusterctl's error, which names what is missing.
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
