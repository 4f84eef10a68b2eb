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

// Package admission is what the webhooks that admit Foo's kinds share: how the rules of a kind become a validator, how a
// change is compared with what may change, and what a refusal says.
//
// The rules themselves are in one file per kind in the folders controlplane and infrastructure. A rule is a pure function of
// an object, or of an object before and after a change.
//
// Validation ratchets: what was wrong with an object before is no reason to refuse a change that leaves it alone. So a rule
// may be added without making anybody's objects unchangeable, and finalizers can always go.
//
// Limits: a webhook sees one object. Whether what it refers to exists is the controllers' business, and they say so in
// conditions.
package admission
