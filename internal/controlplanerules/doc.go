// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplanerules validates FooControlPlanes and FooControlPlaneTemplates, as far as that
// is possible from the object alone.
//
// The rules are pure functions of the objects and of Cluster API's feature gates. So a webhook can
// reject at admission what the controller would reject where no webhook runs. The rules for changes
// are in webhooks/admission/controlplane.
//
// Limits: the rules look nothing up. The controller checks whether a referenced template or Secret
// exists. What the schema of both versions of the CRD rejects is not repeated here.
package controlplanerules
