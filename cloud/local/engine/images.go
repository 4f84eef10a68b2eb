// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func (e *Engine) validateInstance(spec cloud.InstanceSpec) error {
	if err := e.catalog.Instance(spec); err != nil {
		return err
	}
	return e.validateImage("kubernetesVersion", spec.KubernetesVersion)
}

func (e *Engine) validatePool(spec cloud.PoolSpec) error {
	if err := e.catalog.Pool(spec); err != nil {
		return err
	}
	return e.validateImage("template.kubernetesVersion", spec.Template.KubernetesVersion)
}

func (e *Engine) validateImage(field, version string) error {
	images, err := e.options.Images()
	if err != nil {
		return &cloud.UnavailableError{Message: err.Error()}
	}
	versions := make([]string, 0, len(images))
	for _, image := range images {
		if image.KubernetesVersion == version {
			return nil
		}
		versions = append(versions, image.KubernetesVersion)
	}
	return &cloud.InvalidError{
		Field: field, Value: version, Allowed: versions,
		Problem: fmt.Sprintf("no image of this Kubernetes version, build one with `make node KUBERNETES_VERSION=%s`", buildable(version)),
	}
}

// buildable returns the version in the form that the build expects, or a placeholder if it is not a
// version at all.
func buildable(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v<major>.<minor>.<patch>"
}
