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

// Package templates holds sources of cluster templates and the ClusterClass of the provider for programs that bring them
// along, and for the runtime extension. It interprets nothing.
package templates

import "embed"

// Sources are the kustomizations that the flavor fast is made of. The package fast builds it.
//
//go:embed base flavors/fast
var Sources embed.FS

// ClusterClass is the ClusterClass foo, with the schemas of its variables and with its patches, as YAML.
//
//go:embed clusterclasses/foo/parts/clusterclass.yaml
var ClusterClass []byte

// Metadata tells clusterctl which contract each release series of the provider implements.
//
//go:embed metadata.yaml
var Metadata []byte
