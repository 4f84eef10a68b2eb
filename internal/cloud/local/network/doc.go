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

// Package network makes the cloud's network on the host: a bridge with the network's first address, one card per
// instance, and one address per load balancer on the bridge. The bridge carries a mark of the state folder that made
// it, so that what belongs to others is never touched. Packet filters at the cards keep the instances of each tenant to themselves, and
// each instance to its own address.
//
// Limits: IPv4; instances reach those of their tenant and the host, and nothing beyond.
package network
