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

// Package loadbalancer is a TCP load balancer in a process of its own, and the driver that starts such processes.
//
// A connection goes to the next ready backend in turn; a backend is ready when its /readyz answers over HTTPS. While
// none is, one that at least accepts connections is used; while there is none of these either, connections are held
// and forwarded as soon as there is one, as a queue does. A backend that is removed, or stops being ready while another
// is, loses its connections, so that its clients go to another.
//
// Limits: one port, TCP; what is forwarded is not looked into. The certificate of a backend is not verified by the
// health check: the client that is forwarded does that.
package loadbalancer
