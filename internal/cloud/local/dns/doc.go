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

// Package dns is the name server of the instances. It knows the host names of instances and the names of load balancers, each for the
// instances of their own tenant, and asks the resolvers of the host for all other names.
//
// A name that nobody answers for does not exist. Where the host has no resolver, that is said at once; where none of them answers, after
// two seconds at first, and soon for a while then. Nothing in an instance waits for a network that is not there.
//
// Limits: IPv4 addresses; it keeps no answers, and asks no more than a number of questions at once.
package dns
