// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

func run(t *testing.T, data string) (failures []string, output string) {
	t.Helper()
	config := mustParse(t, data)
	table := process.NewTable()
	ctx, cancel := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		table.Reap(ctx)
	}()
	defer func() {
		cancel()
		<-reaped // otherwise it would reap children of the next test
	}()
	var out bytes.Buffer
	runner := NewRunner(table, &out, []string{"PATH=" + os.Getenv("PATH")})
	count := runner.Run(ctx, config, func(err error) { failures = append(failures, err.Error()) })
	if count != len(failures) {
		t.Errorf("%d failures were told of, %d were counted", len(failures), count)
	}
	return failures, out.String()
}

func TestRunWritesFilesAndRunsCommandsInOrder(t *testing.T) {
	folder := t.TempDir()
	trace := filepath.Join(folder, "trace")
	failures, output := run(t, `#cloud-config
runcmd:
- cat `+folder+`/sub/file >> `+trace+`
- [sh, -c, 'echo run >> `+trace+`']
bootcmd:
- echo boot >> `+trace+`
write_files:
- {path: `+folder+`/sub/file, content: "one\n", permissions: '0600'}
- {path: `+folder+`/sub/file, content: "two\n", append: true, permissions: '0600'}
growpart: {mode: off}
`)
	if len(failures) != 0 {
		t.Fatalf("failures: %q", failures)
	}
	got, err := os.ReadFile(trace)
	if err != nil || string(got) != "boot\none\ntwo\nrun\n" {
		t.Errorf("trace is %q, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(folder, "sub/file"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file is %v, %v", info, err)
	}
	if !strings.Contains(output, "module growpart is skipped") {
		t.Errorf("output does not name the skipped module:\n%s", output)
	}
}

func TestRunTellsOfFailuresAndGoesOn(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	failures, output := run(t, `#cloud-config
runcmd:
- 'echo "error: no luck with abcdef.0123456789abcdef" >&2; echo hint; exit 3'
- [no-such-program, x]
- kill -9 $$
- touch `+done+`
`)
	want := []string{
		`ended with exit code 3: error: no luck with <redacted>`,
		`runcmd[1] "no-such-program x": not found in PATH`,
		`ended with signal 9 (killed): it wrote nothing`,
	}
	if !slices.EqualFunc(failures, want, strings.Contains) {
		t.Errorf("failures are\n%s", strings.Join(failures, "\n"))
	}
	if _, err := os.Stat(done); err != nil {
		t.Errorf("the last command did not run: %s", err)
	}
	if strings.Contains(output, "0123456789abcdef") {
		t.Errorf("output shows a token:\n%s", output)
	}
}

func TestRunRefusesUnknownOwner(t *testing.T) {
	failures, _ := run(t, "#cloud-config\nwrite_files:\n- {path: "+t.TempDir()+"/f, owner: 'no-such-user:root'}\n")
	if len(failures) != 1 || !strings.Contains(failures[0], `user "no-such-user" is unknown`) {
		t.Errorf("failures: %q", failures)
	}
}
