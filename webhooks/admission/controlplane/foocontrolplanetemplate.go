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

package controlplane

import (
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplanetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanetemplates,versions=v1beta2,name=validation.foocontrolplanetemplate.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func templateRules() admission.Rules[*controlplanev1.FooControlPlaneTemplate] {
	return admission.Rules[*controlplanev1.FooControlPlaneTemplate]{
		Kind: controlplanev1.GroupVersion.WithKind("FooControlPlaneTemplate").GroupKind(), Resource: "foocontrolplanetemplates",
		Validate: controlplanerules.ValidateTemplate,
		Unwise:   controlplanerules.UnwiseTemplate,
		Change:   admission.UnlessTopologyAsks(controlplanerules.ValidateTemplateUpdate),
	}
}
