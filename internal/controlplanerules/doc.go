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

// Package controlplanerules says what is wrong with a FooControlPlane or a FooControlPlaneTemplate, as far as that can be
// told from the object alone, or from an object and what it was before.
//
// The rules are pure functions of objects and of Cluster API's feature gates, so that a webhook can refuse at admission what
// the controller refuses where no webhook is. Whoever updates an object from before a rule may accept what was
// wrong already: webhooks/admission does.
//
// Limits: nothing is looked up. That a template or a secret exists is for the controller to find out. What the CRD's
// schema refuses is refused here too where the controller relies on it.
package controlplanerules
