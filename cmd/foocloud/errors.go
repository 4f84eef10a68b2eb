// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/daemon"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// Exit codes, as the help of foocloud explains them.
const (
	exitFailed       = cli.ExitFailed
	exitUsage        = cli.ExitInvalid
	exitNotFound     = 3
	exitUnauthorized = 4
	exitUnavailable  = 5
	exitInterrupted  = cli.ExitInterrupted
)

// stateEnv is a variable in the file env of foo that names its state folder.
const stateEnv = "FOO_STATE_DIR"

// fooState is the state folder of foo by default.
const fooState = "/var/lib/foo"

// startCloud advises to start the cloud that the user means. The service is not foo's cloud, and would
// take its network.
func startCloud() string {
	const foo = "foo start"
	switch folder := os.Getenv(stateEnv); folder {
	case "":
		return "start the cloud with: systemctl start foocloud; start foo's with: " + foo + ", and use it with: set -a; . " + fooState + "/env"
	case fooState:
		return "start foo's cloud with: " + foo
	default:
		return "start foo's cloud with: " + foo + " --state-dir=" + folder
	}
}

// report shows an error in one line that says what to do, and returns the exit code.
func report(root *cobra.Command, err error) int {
	var ended utilexec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return ended.ExitStatus()
	}
	code, advice := classify(err)
	if err == nil {
		return code
	}
	cli.Show(root, err, advice)
	return code
}

// interruptedError means that the user interrupted a command that left something half done.
type interruptedError struct {
	error
	// advice says what to do about it.
	advice string
}

func (e *interruptedError) Unwrap() error { return e.error }

// interrupted adds advice to the error of a command that was interrupted.
func interrupted(err error, advice string) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	return &interruptedError{err, advice}
}

// tokenAdvice returns what a user without a valid token can do.
func tokenAdvice(err error) string {
	advice := "name a tenant's token with --token-file or " + fileEnv
	switch {
	case os.Geteuid() != 0:
		return "run foocloud as root, or " + advice
	case errors.Is(err, fs.ErrNotExist):
		return startCloud() + ", or " + advice
	default:
		return advice
	}
}

// classify returns the exit code of an error, and what the user can do unless the error says so
// itself.
func classify(err error) (code int, advice string) {
	var ambiguous *ambiguousError
	var partial *partialError
	var refused *daemon.RefusedError
	var halfDone *interruptedError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &halfDone):
		return exitInterrupted, halfDone.advice
	case errors.Is(err, context.Canceled):
		return exitInterrupted, ""
	case cli.IsUsage(err), errors.As(err, &ambiguous), errors.As(err, &partial), errors.As(err, &refused), cloud.IsInvalid(err):
		return exitUsage, ""
	}
	switch cloud.ReasonFor(err) {
	case cloud.ReasonNotFound:
		return exitNotFound, "list what exists with: foocloud instances, pools, load-balancers, image list or faults list"
	case cloud.ReasonUnauthorized:
		return exitUnauthorized, tokenAdvice(err)
	case cloud.ReasonUnavailable:
		return exitUnavailable, startCloud() + ", or name another with --endpoint or " + endpointEnv
	case cloud.ReasonThrottled:
		return exitUnavailable, ""
	case cloud.ReasonQuotaExceeded, cloud.ReasonOutOfCapacity:
		return exitUnavailable, "see: foocloud quota"
	case cloud.ReasonInvalid, cloud.ReasonConflict, cloud.ReasonUnknown:
	}
	return exitFailed, ""
}
