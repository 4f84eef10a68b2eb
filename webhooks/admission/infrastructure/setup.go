// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	webhookconversion "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion"
)

// SetupWithManager adds the webhooks of all kinds of the infrastructure provider, including
// conversion.
func SetupWithManager(mgr ctrl.Manager) error {
	for _, add := range []func(ctrl.Manager) error{
		adder(&infrav1.FooCluster{}, clusterRules(mgr.GetClient()), conversion.FooCluster),
		adder(&infrav1.FooClusterIdentity{}, identityRules(), nil),
		adder(&infrav1.FooClusterTemplate{}, clusterTemplateRules(), conversion.FooClusterTemplate),
		adder(&infrav1.FooMachine{}, machineRules(), conversion.FooMachine),
		adder(&infrav1.FooMachineTemplate{}, machineTemplateRules(), conversion.FooMachineTemplate),
		adder(&infrav1.FooMachinePool{}, poolRules(), conversion.FooMachinePool),
		adder(&infrav1.FooMachinePoolTemplate{}, poolTemplateRules(), conversion.FooMachinePoolTemplate),
	} {
		if err := add(mgr); err != nil {
			return err
		}
	}
	return nil
}

// adder returns a function that adds the webhooks of a kind. Kinds with a single version have no
// converter.
func adder[T client.Object](object T, rules admission.Rules[T], converter func(*runtime.Scheme) (webhookconversion.Converter, error)) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		webhooks := ctrl.NewWebhookManagedBy(mgr, object).WithValidator(rules)
		if converter != nil {
			webhooks = webhooks.WithConverter(converter)
		}
		if err := webhooks.Complete(); err != nil {
			return fmt.Errorf("webhooks of %s: %w", rules.Kind.Kind, err)
		}
		return nil
	}
}

func kind(name string) schema.GroupKind { return infrav1.GroupVersion.WithKind(name).GroupKind() }
