// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package childprocess_test

import (
	"os/exec"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/internal/childprocess"
)

func TestStart(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exit 3")
	done, err := childprocess.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if _, err := childprocess.Start(exec.Command("/no/such/program")); err == nil {
		t.Error("a missing program is not an error")
	}
}
