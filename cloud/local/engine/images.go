// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
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
	return rules.Image(prefix, template, images)
}
