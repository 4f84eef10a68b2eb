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

// Package service keeps a program of an instance running, as a unit of systemd of type notify does.
//
// A service counts as started when its program says so itself. It is restarted when it ends, at once first and then with growing pauses.
// While a file that it needs is missing it is not started, since it would only fail: it is then "activating", and starts as soon as the
// file is there.
//
// Limits: a program that hangs is not noticed; there is no watchdog.
package service
