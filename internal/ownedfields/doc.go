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

// Package ownedfields applies a part of an object's fields that has its own field manager, such that what is no longer
// said there goes away while what others put there stays.
//
// An object that was created in one request belongs in all its fields to the one who created it, and server-side apply
// removes only what the applying manager owns alone. So before the first apply that takes something away, the fields of
// the part are handed over from the creator's manager to the part's own.
//
// Limits: the lists in a part must be associative ones whose keys are all given in each item.
package ownedfields
