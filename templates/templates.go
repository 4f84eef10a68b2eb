// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package templates embeds the sources of the cluster templates and of the ClusterClasses. Package
// flavors builds them.
package templates

import "embed"

// Sources are the kustomizations, and the meanings of the variables of flavors.
//
//go:embed addon base clusterclasses flavors variables.yaml
var Sources embed.FS

// ClusterClass is the ClusterClass foo, with the schemas of its variables and with its patches, as
// YAML.
//
//go:embed clusterclasses/foo/parts/clusterclass.yaml
var ClusterClass []byte
