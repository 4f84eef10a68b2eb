//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/capfoo/cluster-api-provider-foo/internal/childprocess"
)

// command returns a program of bin/ with only PATH from this process's environment.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + suiteDir, "CLUSTERCTL_DISABLE_VERSIONCHECK=true"}
	cmd.Dir = "/"
	return cmd
}

// outcome is the result of a program.
type outcome struct {
	stdout, stderr string
	// code is the exit code; -1 if it was killed.
	code int
}

// end runs a program to its end.
func end(cmd *exec.Cmd) outcome {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred(), "%s did not start", cmd.Path)
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// output runs a program that must succeed and returns what it prints.
func output(cmd *exec.Cmd) string {
	GinkgoHelper()
	got := end(cmd)
	Expect(got.code).To(BeZero(), "%s failed: %s%s", strings.Join(cmd.Args, " "), got.stdout, got.stderr)
	return got.stdout
}

func kubectl() string { return "kubernetes/" + currentVersion + "/kubectl" }

// daemon is a program that runs until it is stopped.
type daemon struct {
	cmd  *exec.Cmd
	said *gbytes.Buffer
	done <-chan struct{}
}

// start runs a program in the background. It gets SIGTERM when this process dies, so that it leaves
// nothing behind even then.
func start(cmd *exec.Cmd) *daemon {
	GinkgoHelper()
	d := &daemon{cmd: cmd, said: gbytes.NewBuffer()}
	cmd.Stdout, cmd.Stderr = d.said, d.said
	var err error
	d.done, err = childprocess.Start(cmd)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// ended reports whether the program has ended.
func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// interrupt stops the program like Ctrl-C, and returns its exit code.
func (d *daemon) interrupt(ctx context.Context) int {
	GinkgoHelper()
	if !d.ended() {
		Expect(d.cmd.Process.Signal(syscall.SIGINT)).To(Or(Succeed(), MatchError(os.ErrProcessDone)), "it may just have ended by itself")
	}
	Eventually(ctx, d.done).WithTimeout(clusterGone).Should(BeClosed(), "%s does not end: %s", d.cmd.Path, d.said.Contents())
	return d.cmd.ProcessState.ExitCode()
}
