// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestConfigureRuntime(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "conf.d")
	path := filepath.Join(folder, runtimeConfigFile)
	for _, settings := range []string{"", restrictedRuntime, restrictedRuntime, ""} {
		if err := configureRuntime(folder, settings); err != nil {
			t.Fatal(err)
		}
		is, err := os.ReadFile(path)
		if string(is) != settings || (err == nil) != (settings != "") {
			t.Errorf("%s has %q (%v), want %q", runtimeConfigFile, is, err, settings)
		}
	}
}
