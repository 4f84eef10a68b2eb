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

package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func read(t *testing.T, folder string) Status {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, fileName))
	if err != nil {
		t.Fatal(err)
	}
	var status Status
	if err := json.Unmarshal(data, &status); err != nil {
		t.Fatal(err)
	}
	return status
}

func TestReporter(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "report")
	reporter, err := New(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder); got.Phase != Booting || got.Bootstrap.State != Pending {
		t.Errorf("first report is %+v", got)
	}
	if err := reporter.SetPhase(Running); err != nil {
		t.Fatal(err)
	}
	if err := reporter.SetBootstrap(Bootstrap{State: Failed, Message: "why"}); err != nil {
		t.Fatal(err)
	}
	if err := reporter.SetBootstrap(Bootstrap{State: Succeeded}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder); got.Phase != Running || got.Bootstrap != (Bootstrap{State: Failed, Message: "why"}) {
		t.Errorf("a failure is not final: %+v", got)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v", entries, err)
	}
}
