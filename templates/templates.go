// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package templates embeds the sources of cluster templates and the provider's ClusterClass for
// programs and for the runtime extension. It does not interpret them.
package templates

import "embed"

// Sources are the kustomizations of the flavor fast. Package fast builds the flavor.
//
//go:embed base flavors/fast
var Sources embed.FS

// ClusterClass is the ClusterClass foo, with the schemas of its variables and with its patches, as
// YAML.
//
//go:embed clusterclasses/foo/parts/clusterclass.yaml
var ClusterClass []byte

// Metadata tells clusterctl which contract each release series of the provider implements.
//
//go:embed metadata.yaml
var Metadata []byte
