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

// Package cloudidentity knows which cloud, and which tenant of it, each cluster belongs to: that of the FooClusterIdentity that
// its FooCluster names, or else the one that the manager is set up with.
//
// Where the identity can not be used, be it missing, not allowed for the namespace, or without credentials, the cluster is given a
// cloud that refuses every call and says why. So a controller needs no second way to say it, and never takes for missing
// what it was not allowed to ask for.
//
// Limits: it makes one connection for each identity and keeps it until the identity or its Secret changes. It hears of a changed
// Secret from whoever calls Check, which is the controller of FooClusterIdentities.
package cloudidentity
