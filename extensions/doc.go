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

// Package extensions is Foo's runtime extension: which task does the jobs of which hook, and with which settings.
//
// The packages below each do one thing: lifecycle answers hooks, work keeps and does their jobs, server serves, and the others
// are the tasks. None of them but the check of quota knows a cloud.
//
// Limits: the hooks of in-place updates are not served.
package extensions
