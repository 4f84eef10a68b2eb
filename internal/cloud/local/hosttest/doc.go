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

// Package hosttest tests the local cloud on a real host: it builds foocloud, boots instances and load balancers, kills
// daemons and processes, and looks at what the host has left. The tests need root and Linux, and are built only with
// the tag "host":
//
//	go test -tags host ./internal/cloud/local/hosttest
//
// Most instances run a small agent of the tests in place of foonode, and nothing of Kubernetes. Those of node_test.go run what `make node`
// and `make programs` have made.
package hosttest
