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

// Package e2e tells whole stories on real machines. Each story drives the built programs through their public faces
// only: the flags and the output of quickstart, foocloud, clusterctl and kubectl, and the API of the management and
// workload clusters. It is built with the tag e2e, and needs root and the programs in bin/.
//
// One management cluster serves all stories; each has a namespace of its own, and deletes its clusters at its end. Those
// with the label slow take minutes each and are left out unless asked for: make e2e LABELS='control-plane' runs all about
// control planes, an empty LABELS all there are.
//
// Limits: it says nothing of speed, which test/bench measures, and runs one story at a time.
package e2e
