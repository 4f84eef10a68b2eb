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

// Package boot is the first process of an instance: it puts the other packages together, in the order that an instance needs.
//
// It prepares the machine that programs see, starts containerd, runs the bootstrap data, and ends the instance cleanly when it is told to:
// the kubelet first, so that it restarts nothing, then the programs of pods with etcd as the last, then containerd, which writes their last
// words, then whatever is left.
package boot
