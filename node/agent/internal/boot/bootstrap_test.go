// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process/processtest"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// bootstrap runs bootstrap data, and returns the report and the console output.
func bootstrap(t *testing.T, data string) (contract.Bootstrap, string) {
	t.Helper()
	folder := t.TempDir()
	reporter, err := report.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	var console bytes.Buffer
	a := &agent{instance: &contract.Instance{ID: "i1"}, log: slog.New(slog.DiscardHandler), table: processtest.NewTable(t), reporter: reporter}
	files := bootstrapFiles{userData: filepath.Join(folder, "user-data"), output: filepath.Join(folder, "log/output.log")}
	write(t, files.userData, data)
	a.bootstrap(t.Context(), files, &console)
	text, err := os.ReadFile(filepath.Join(folder, "status.json"))
	if err != nil {
		t.Fatal(err)
	}
	var status contract.Report
	if err := json.Unmarshal(text, &status); err != nil {
		t.Fatal(err)
	}
	return status.Bootstrap, console.String()
}

func TestInstanceThatEndsWithItsBootstrapData(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "termination-log")
	reporter, err := report.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	a := &agent{log: slog.New(slog.DiscardHandler), reporter: reporter, end: end, terminationLog: path}
	a.bootstrapFailed(errors.New("the reason"))
	a.bootstrapFailed(errors.New("what followed"))
	if got, err := os.ReadFile(path); err != nil || string(got) != "the reason" {
		t.Errorf("termination log is %q, %v", got, err)
	}
	if failed := (*failure)(nil); !errors.As(context.Cause(ctx), &failed) || failed.Error() != "the reason" {
		t.Errorf("the instance ends because of %v", context.Cause(ctx))
	}
}

func TestBootstrapReports(t *testing.T) {
	cases := map[string]struct {
		data  string
		state contract.BootstrapState
		want  string
	}{
		"success": {"#cloud-config\nruncmd:\n- 'true'\n", contract.BootstrapSucceeded, ""},
		"a command fails": {
			"#cloud-config\nruncmd:\n- 'echo \"error: no luck\"; exit 4'\n", contract.BootstrapFailed,
			`runcmd[0] "echo \"error: no luck\"; exit 4" ended with exit code 4: error: no luck`,
		},
		"broken YAML":   {"#cloud-config\nruncmd: [\n", contract.BootstrapFailed, "not valid YAML"},
		"other formats": {`{"ignition": {"version": "3.4.0"}}`, contract.BootstrapFailed, "Ignition"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, _ := bootstrap(t, c.data); got.State != c.state || !strings.Contains(got.Message, c.want) {
				t.Errorf("report is %+v, want %s %q", got, c.state, c.want)
			}
		})
	}
}

func TestOutputOfCommandsIsBounded(t *testing.T) {
	status, console := bootstrap(t, "#cloud-config\nruncmd:\n- yes 'a line of a command that says much' | head -c 6000000\n- exit 4\n")
	if status.State != contract.BootstrapFailed {
		t.Errorf("report is %+v", status)
	}
	if size := len(console); size < 1<<20 || size > 5<<20 {
		t.Errorf("the console has %d bytes, want the first 4 MiB of output and little else", size)
	}
	if !strings.Contains(console, "more output of commands is only in /var/log/cloud-init-output.log") {
		t.Error("the console does not say where the rest is")
	}
}
