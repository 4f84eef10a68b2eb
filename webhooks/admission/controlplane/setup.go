// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion"
)

// SetupWithManager adds the webhooks of all kinds of the control plane provider, including
// conversion.
func SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewWebhookManagedBy(mgr, &controlplanev1.FooControlPlane{}).
		WithValidator(controlPlaneRules()).WithConverter(conversion.FooControlPlane(mgr.GetRESTMapper())).Complete()
	if err != nil {
		return fmt.Errorf("webhooks of FooControlPlane: %w", err)
	}
	err = ctrl.NewWebhookManagedBy(mgr, &controlplanev1.FooControlPlaneTemplate{}).
		WithValidator(templateRules()).WithConverter(conversion.FooControlPlaneTemplate).Complete()
	if err != nil {
		return fmt.Errorf("webhooks of FooControlPlaneTemplate: %w", err)
	}
	for path, resource := range map[string]string{defaultPath: "foocontrolplanes", defaultTemplatePath: "foocontrolplanetemplates"} {
		mgr.GetWebhookServer().Register(path, admission.WithDefaulter(mgr.GetScheme(), defaulter{scheme: mgr.GetScheme(), resource: resource}))
	}
	mgr.GetWebhookServer().Register(scalePath, admission.WithValidator(mgr.GetScheme(), scaleValidator{reader: mgr.GetAPIReader(), rules: controlPlaneRules()}))
	return nil
}
