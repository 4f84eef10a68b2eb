// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
