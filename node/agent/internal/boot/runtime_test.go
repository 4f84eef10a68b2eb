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
