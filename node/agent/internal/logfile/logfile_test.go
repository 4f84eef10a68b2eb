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

package logfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFileKeepsItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "x.log")
	file, err := Open(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first\n", "abc\n", "second\n", "a line that is longer than the limit\n", "end\n"} {
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "end\n", path + ".1": "a line that is longer than the limit\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", filepath.Base(name), got, err)
		}
	}
}

func TestOpenAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	for range 2 {
		file, err := Open(path, 100)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "x\nx\n" {
		t.Errorf("file holds %q, %v", got, err)
	}
}
