// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli holds what the command lines of Foo's programs have in common.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes besides 0.
const (
	ExitFailed      = 1   // something failed
	ExitInvalid     = 2   // nothing was done: a flag, an argument or a value is invalid
	ExitInterrupted = 130 // the user ended it
)

// Error is an error with the exit code that it causes.
type Error struct {
	// Err is the error as shown to the user.
	Err error
	// Code is one of the exit codes above.
	Code int
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its exit code.
func (e *Error) Unwrap() error { return e.Err }

// codeOf returns the exit code that comes with an error; 0 if there is none.
func codeOf(err error) int {
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

// Usage returns the error of a command that cannot run as it was called and has done nothing, or nil if
// err is nil. The error says what is wrong, and what is allowed.
func Usage(command *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Err: fmt.Errorf("%w; see: %s --help", err, command.CommandPath()), Code: ExitInvalid}
}

// IsUsage reports whether err is, or wraps, an error of Usage.
func IsUsage(err error) bool { return codeOf(err) == ExitInvalid }

// Group makes a command that only holds others.
func Group(group *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return command.Help()
		}
		return Usage(command, unknown(command, args[0]))
	}
	group.AddCommand(commands...)
	return group
}

// unknown returns the error for a word that is no command of a group.
func unknown(group *cobra.Command, word string) error {
	err := fmt.Errorf("unknown command %q", word)
	group.SuggestionsMinimumDistance = 2
	if similar := group.SuggestionsFor(word); len(similar) > 0 {
		return fmt.Errorf("%w, did you mean %s?", err, strings.Join(similar, ", "))
	}
	return err
}

// Root completes a program's command, once all others are below it: errors of flags and arguments
// are those of Usage, and the caller shows all errors.
func Root(root *cobra.Command) *cobra.Command {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(Usage)
	explainArguments(root)
	return root
}

func explainArguments(command *cobra.Command) {
	if check := command.Args; check != nil {
		command.Args = func(command *cobra.Command, args []string) error {
			err := check(command, args)
			switch {
			case err == nil:
				return nil
			case command.HasSubCommands() && len(args) > 0:
				err = unknown(command, args[0])
			default:
				err = fmt.Errorf("wrong number of arguments, want: %s", command.UseLine())
			}
			return Usage(command, err)
		}
	}
	for _, child := range command.Commands() {
		explainArguments(child)
	}
}

// Execute runs a program until its command ends. An error after the user interrupted it or closed the
// terminal gets the code ExitInterrupted, unless it has ExitFailed: then a command that
// runs until a signal has ended as it should, and something failed afterwards. The log messages of libraries
// would garble what the program shows, and their errors are returned anyway, so it discards them.
func Execute(root *cobra.Command) error {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	interrupts := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		interrupts = append(interrupts, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), interrupts...)
	defer stop()
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil || ctx.Err() == nil || codeOf(err) == ExitFailed:
		return err
	case errors.Is(err, context.Cause(ctx)): // it names the signal
		return &Error{Err: context.Canceled, Code: ExitInterrupted}
	default:
		return &Error{Err: err, Code: ExitInterrupted}
	}
}

// ProgramDir returns the folder of this program, which has the other parts of a release or build.
func ProgramDir() string {
	path, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(path)
}

// ExitCode returns the exit code for an error. Errors for which invalid returns true mean that nothing was
// done.
func ExitCode(err error, invalid func(error) bool) int {
	code := codeOf(err)
	switch {
	case err == nil || code != 0:
		return code
	case invalid(err):
		return ExitInvalid
	default:
		return ExitFailed
	}
}

// Main executes a program, shows its error, and returns its exit code; see ExitCode.
func Main(root *cobra.Command, invalid func(error) bool) int {
	err := Execute(root)
	if err != nil {
		Show(root, err, "")
	}
	return ExitCode(err, invalid)
}

// Show shows an error and what the user can do, with the program's name in front of each line. The
// advice is for errors that do not say so themselves.
func Show(root *cobra.Command, err error, advice string) {
	text := strings.TrimSpace(err.Error())
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	if advice = cmp.Or(advice, adviceFor(err)); advice != "" {
		text += "; " + advice
	}
	for line := range strings.Lines(text) {
		root.PrintErrln(root.Name()+":", strings.TrimSuffix(line, "\n"))
	}
}

// adviceFor returns what the user can do about an error of the operating system.
func adviceFor(err error) string {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return "the disk is full: free some space, or choose a folder on another disk"
	case errors.Is(err, unix.EROFS):
		return "choose a folder that can be written to"
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		return "run it with sudo"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of the file"
	default:
		return ""
	}
}
