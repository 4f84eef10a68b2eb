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

// Package controlplane admits FooControlPlanes, their templates and their scale subresource: one file for each. Objects of
// every version arrive here in v1beta2. The rules are in internal/controlplanerules, which the controller follows too. The
// schema alone checks spec.replicas; the webhook for scale adds the rules that join spec.replicas to other fields.
//
// Limits: a webhook sees one object. Whether the infrastructure machine template exists is left to the controller.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=foo-control-plane-validation
// +kubebuilder:webhookconfiguration:mutating=true,name=foo-control-plane-defaulting
package controlplane
