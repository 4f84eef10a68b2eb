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

// Package options holds the command line flags of the manager and turns them into the options of controller-runtime.
//
// The flags are those of Cluster API's own managers wherever these have one for the purpose, so that whoever runs those
// knows this one. Contradictory or unknown values end in an error that says what is allowed.
//
// Limits: the package chooses no cloud and starts nothing; main.go does.
package options
