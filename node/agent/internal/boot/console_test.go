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
	"bytes"
	"testing"
)

func TestLimitedStopsAtItsLimitAndSaysSoOnce(t *testing.T) {
	var console bytes.Buffer
	writer := &limited{output: &console, limit: 10}
	for _, line := range []string{"one\n", "three\n", "x", "two\n"} {
		if n, err := writer.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("write of %q: %d, %v", line, n, err)
		}
	}
	want := "one\nthree\ncloud-init: more output of commands is only in /var/log/cloud-init-output.log of the instance\n"
	if got := console.String(); got != want {
		t.Errorf("console shows %q, want %q", got, want)
	}
}
