// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
