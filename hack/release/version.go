// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"
)

// checkVersion returns an error unless clusterctl accepts the version: a semantic version with a
// leading v, in a release series of the metadata. clusterctl itself would only fail when a user
// installs it.
//
//contract:clusterctl/metadata-validation
func checkVersion(version string, metadata []byte) error {
	number, prefixed := strings.CutPrefix(version, "v")
	parsed, err := semver.Parse(number)
	if !prefixed || err != nil || len(parsed.Build) > 0 {
		return fmt.Errorf("version %q: want v<major>.<minor>.<patch>, or with a pre-release, for example v0.1.0 or v0.1.0-rc.1", version)
	}
	known := clusterctlv1.Metadata{}
	if err := yaml.UnmarshalStrict(metadata, &known); err != nil {
		return fmt.Errorf("templates/metadata.yaml: %w", err)
	}
	allowed := make([]string, 0, len(known.ReleaseSeries))
	for _, series := range known.ReleaseSeries {
		if int64(parsed.Major) == int64(series.Major) && int64(parsed.Minor) == int64(series.Minor) {
			return nil
		}
		allowed = append(allowed, fmt.Sprintf("v%d.%d.x", series.Major, series.Minor))
	}
	return fmt.Errorf("version %q belongs to no release series in templates/metadata.yaml, which has %s: first add the series with its contract",
		version, strings.Join(allowed, ", "))
}
