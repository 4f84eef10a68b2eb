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

package topology

import (
	"context"
	"fmt"

	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// Variables answers the hook DiscoverVariables.
type Variables struct {
	list []clusterv1.ClusterClassVariable
}

// NewVariables reads the variables of the ClusterClass foo. An error means that the program was built from a broken class.
func NewVariables() (Variables, error) {
	var class clusterv1.ClusterClass
	if err := yaml.Unmarshal(templates.ClusterClass, &class); err != nil {
		return Variables{}, fmt.Errorf("variables of the ClusterClass foo: %w", err)
	}
	return Variables{list: class.Spec.Variables}, nil
}

// DiscoverVariables lists the variables with their schemas, in the order in which the ClusterClass foo has them. It reads no
// settings.
//
//contract:topology-mutation/discover-variables
//contract:topology-mutation/variable-discovery
//contract:topology-mutation/discovery-guidelines
func (v Variables) DiscoverVariables(_ context.Context, _ *runtimehooksv1.DiscoverVariablesRequest, response *runtimehooksv1.DiscoverVariablesResponse) {
	for _, variable := range v.list {
		response.Variables = append(response.Variables, *variable.DeepCopy())
	}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
}
