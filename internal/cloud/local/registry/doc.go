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

// Package registry is where instances pull images of containers from. It is a mirror of all registries: the images that were loaded into it
// are there under the names that they were loaded with, whichever registries these name, and what it does not have it fetches from the
// registry itself, through the network of the host.
//
// The images lie in a folder, as an OCI image layout: each blob in a file that is called by its hash, and written in one step.
//
// Limits: instances only read. What is fetched from others is passed on, not kept, and asked for without credentials. All tenants see all
// images.
package registry
