// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

func (e *Engine) validateInstance(spec cloud.InstanceSpec) error {
	if err := e.catalog.Instance(spec); err != nil {
		return err
	}
	return e.validateImage("", spec.InstanceTemplate)
}

func (e *Engine) validatePool(spec cloud.PoolSpec) error {
	if err := e.catalog.Pool(spec); err != nil {
		return err
	}
	return e.validateImage("template.", spec.Template)
}

func (e *Engine) validateImage(prefix string, template cloud.InstanceTemplate) error {
	images, err := e.options.Images()
	if err != nil {
		return &cloud.UnavailableError{Message: err.Error()}
	}
	err = rules.Image(prefix, template, images)
	var invalid *cloud.InvalidError
	if errors.As(err, &invalid) && invalid.Field == prefix+"kubernetesVersion" {
		invalid.Problem += fmt.Sprintf(", build one with `make node KUBERNETES_VERSION=%s`", buildable(template.KubernetesVersion))
	}
	return err
}

// buildable returns the version in the form that the build expects, or a placeholder if it is not a
// version at all.
func buildable(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v<major>.<minor>.<patch>"
}
