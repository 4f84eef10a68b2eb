// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package setup holds the options of the controllers that order from the cloud.
package setup

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
)

// Options configures a controller.
type Options struct {
	// Clouds provides what the controller orders. Required.
	Clouds cloudidentity.Clouds
	// Events reports changes in the cloud. Required.
	Events *cloudevents.Events
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, selects all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The rate limiter defaults to
	// cloudfault.RateLimiter.
	Controller controller.Options
}

// Complete sets the defaults. It returns an error if a required option is missing.
func (o *Options) Complete(controllerName string) error {
	if o.Clouds == nil || o.Events == nil {
		return fmt.Errorf("the %s controller needs a cloud and its events", controllerName)
	}
	if o.Controller.RateLimiter == nil {
		o.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	return nil
}
