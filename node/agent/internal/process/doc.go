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

// Package process starts and reaps the processes of an instance.
//
// Its Table is the only place of the agent that starts or waits for a process. PID 1 inherits every orphan of the
// instance, so it waits for any child; whoever waited for one child alone would race with that. os/exec is therefore not
// used anywhere in the agent.
//
// Among the orphans are the shims of containerd, which outlive it. They take in the processes of their containers themselves and tell
// containerd how these ended, so nobody misses what is reaped here.
//
// Limits: one Table per program, since a program has one set of children.
package process
