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

// Package simulate makes the addresses of simulated pods answer.
//
// Every address of the pods' ranges is routed to the instance itself, and TCP connections to any of their ports are redirected
// to one listener. That looks at how a client begins and answers as a healthy server would: any HTTP request with 200, with or
// without TLS, gRPC's health check with SERVING, and a connection that says nothing is just held. So the kubelet's probes, which
// are real, succeed, and nothing has to know what they are.
//
// A pod on the host network has the instance's address, where real processes listen as well. So only the TCP ports that its
// containers declare are answered, by a listener on each, while the pod exists and no process listens there.
//
// Limits: UDP is not answered. Nor are ports of a pod on the host network that its containers do not declare, or that only an
// init container declares. Without nftables in the kernel, only the route is made, and connections are refused; Check
// tells so beforehand.
package simulate
