// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
