// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

var errInvalid, errOther = errors.New("invalid value"), errors.New("something broke")

func newCommand(arguments string) *cobra.Command {
	do := &cobra.Command{Use: "cluster NAME", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		return map[string]error{"fine": nil, "invalid": errInvalid}[args[0]]
	}}
	fail := &cobra.Command{Use: "fail", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return errOther }}
	root := cli.Root(cli.Group(&cobra.Command{Use: "program"}, cli.Group(&cobra.Command{Use: "create"}, do), fail))
	root.SetArgs(strings.Fields(arguments))
	root.SetOut(io.Discard)
	return root
}

func TestExitCodes(t *testing.T) {
	for arguments, want := range map[string]int{
		"create cluster fine": 0, "create --help": 0, "create cluster invalid": cli.ExitInvalid, "fail": cli.ExitFailed,
		"create cluster": cli.ExitInvalid, "fail now": cli.ExitInvalid, "create cluster fine --force": cli.ExitInvalid, "crate": cli.ExitInvalid,
	} {
		t.Run(arguments, func(t *testing.T) {
			err := cli.Execute(newCommand(arguments))
			NewWithT(t).Expect(cli.ExitCode(err, func(err error) bool { return errors.Is(err, errInvalid) })).To(Equal(want))
		})
	}
}

func TestInterrupt(t *testing.T) {
	g := NewWithT(t)
	wait := &cobra.Command{Use: "wait", RunE: func(command *cobra.Command, _ []string) error {
		g.Expect(syscall.Kill(os.Getpid(), syscall.SIGINT)).To(Succeed())
		<-command.Context().Done()
		return errInvalid
	}}
	err := cli.Execute(cli.Root(wait))
	g.Expect(err).To(And(MatchError(errInvalid), MatchError("invalid value")))
	g.Expect(cli.ExitCode(err, func(error) bool { return true })).To(Equal(cli.ExitInterrupted))

	wait.RunE = func(command *cobra.Command, _ []string) error {
		g.Expect(syscall.Kill(os.Getpid(), syscall.SIGINT)).To(Succeed())
		<-command.Context().Done()
		return fmt.Errorf("wait: %w", context.Cause(command.Context()))
	}
	g.Expect(cli.Execute(cli.Root(wait))).To(MatchError(context.Canceled), "what the user reads is the same for every signal")
}

// A command that was to run until a signal ends it was not interrupted, so a failure after that counts.
func TestFailureAtTheEnd(t *testing.T) {
	g := NewWithT(t)
	serve := &cobra.Command{Use: "serve", RunE: func(command *cobra.Command, _ []string) error {
		g.Expect(syscall.Kill(os.Getpid(), syscall.SIGTERM)).To(Succeed())
		<-command.Context().Done()
		return fmt.Errorf("serve: %w", &cli.Error{Err: errInvalid, Code: cli.ExitFailed})
	}}
	err := cli.Execute(cli.Root(serve))
	g.Expect(err).To(And(MatchError(errInvalid), MatchError("serve: invalid value")))
	g.Expect(cli.ExitCode(err, func(error) bool { return true })).To(Equal(cli.ExitFailed), "something was done")
}

// A command may clean up when its terminal is closed, unless nohup protects it from that.
func TestClosedTerminal(t *testing.T) {
	g := NewWithT(t)
	var done error
	limit := 500 * time.Millisecond // nothing is to happen
	wait := &cobra.Command{Use: "wait", RunE: func(command *cobra.Command, _ []string) error {
		g.Expect(syscall.Kill(os.Getpid(), syscall.SIGHUP)).To(Succeed())
		select {
		case <-command.Context().Done():
			return errOther
		case <-time.After(limit):
			return done
		}
	}}
	signal.Ignore(syscall.SIGHUP)
	g.Expect(cli.Execute(cli.Root(wait))).To(Succeed())

	// The test outlives a command that does not notice.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	done, limit = errors.New("not interrupted"), time.Minute
	err := cli.Execute(cli.Root(wait))
	g.Expect(err).To(MatchError(errOther))
	g.Expect(cli.ExitCode(err, func(error) bool { return false })).To(Equal(cli.ExitInterrupted))
}

// A user learns what to do about an error of the operating system.
func TestShow(t *testing.T) {
	sudo := "check the permissions of the file"
	if os.Geteuid() != 0 {
		sudo = "run it with sudo"
	}
	at := func(err error) error {
		return fmt.Errorf("write the state: %w", &os.PathError{Op: "write", Path: "/x", Err: err})
	}
	for _, test := range []struct {
		err          error
		advice, want string
	}{
		{errOther, "", "something broke"},
		{errOther, "repair it", "something broke; repair it"},
		{errors.Join(errOther, errInvalid), "repair it", "something broke\nprogram: invalid value; repair it"},
		{at(syscall.ENOSPC), "", "write the state: write /x: no space left on device; the disk is full: free some space, or choose a folder on another disk"},
		{at(syscall.EDQUOT), "", "write the state: write /x: disk quota exceeded; the disk is full: free some space, or choose a folder on another disk"},
		{at(syscall.EROFS), "", "write the state: write /x: read-only file system; choose a folder that can be written to"},
		{at(syscall.EACCES), "", "write the state: write /x: permission denied; " + sudo},
		{&cli.Error{Err: context.Canceled, Code: cli.ExitInterrupted}, "", "interrupted"},
	} {
		t.Run(test.want, func(t *testing.T) {
			var said bytes.Buffer
			root := newCommand("")
			root.SetErr(&said)
			cli.Show(root, test.err, test.advice)
			NewWithT(t).Expect(said.String()).To(Equal("program: " + test.want + "\n"))
		})
	}
}

func TestUsageErrors(t *testing.T) {
	for arguments, want := range map[string]string{
		"crate":                       `unknown command "crate", did you mean create?; see: program --help`,
		"create nothing":              `unknown command "nothing"; see: program create --help`,
		"create cluster":              "wrong number of arguments, want: program create cluster NAME [flags]; see: program create cluster --help",
		"create cluster fine --force": "unknown flag: --force; see: program create cluster --help",
	} {
		t.Run(arguments, func(t *testing.T) {
			err := cli.Execute(newCommand(arguments))
			NewWithT(t).Expect(err).To(And(Satisfy(cli.IsUsage), MatchError(want)))
		})
	}
}
