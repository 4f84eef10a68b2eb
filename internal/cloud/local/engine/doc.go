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

// Package engine is the local cloud itself: it decides what is made, and keeps what runs in step with what is stored.
//
// Every call of a tenant is one transaction on the store. What follows from it (starting a process, stopping one) is
// done by one supervisor per instance and per load balancer, which acts on what is stored, so that a restarted daemon
// goes on where the last one was killed. Nothing is polled: calls, ended processes and reports are the events.
//
// Limits: the engine knows no HTTP and no namespaces. Processes are behind the interfaces Machines and Balancers.
package engine
