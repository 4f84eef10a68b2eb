// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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

// NewVariables reads the variables of the ClusterClass foo. An error means that the binary was
// built from a broken class.
func NewVariables() (Variables, error) {
	var class clusterv1.ClusterClass
	if err := yaml.Unmarshal(templates.ClusterClass, &class); err != nil {
		return Variables{}, fmt.Errorf("variables of the ClusterClass foo: %w", err)
	}
	return Variables{list: class.Spec.Variables}, nil
}

// DiscoverVariables lists the variables and their schemas in the order of the ClusterClass foo. It
// reads no settings.
func (v Variables) DiscoverVariables(_ context.Context, _ *runtimehooksv1.DiscoverVariablesRequest, response *runtimehooksv1.DiscoverVariablesResponse) {
	for _, variable := range v.list {
		response.Variables = append(response.Variables, *variable.DeepCopy())
	}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
}
