// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// namespaceFlag finds the flag in the help of a program, as Go's flag packages write it.
var namespaceFlag = regexp.MustCompile(`(?m)^\s*(-\w, )?--?namespace([ \t=]|$)`)

// checkFlags looks for the flag that clusterctl demands in the help of each program with controllers.
// There is no result without one, as for a provider in this process.
func (c *Checker) checkFlags(ctx context.Context, contracts []string) []conformance.Result {
	result := conformance.Result{Rule: "clusterctl/namespace-flag", Level: conformance.Behaviour, Status: conformance.Passed, Versions: contracts}
	checked := false
	for _, p := range c.programs.processes {
		if extension := c.Config.Kinds[RuntimeExtension]; !p.controllers || extension != nil && extension.Program == p.name {
			continue
		}
		checked = true
		help, err := p.help(ctx)
		switch {
		case namespaceFlag.MatchString(help):
		case err != nil:
			result.Reason = fmt.Sprintf("%s --help: %v", p.name, err)
		default:
			result.Findings = append(result.Findings, conformance.Finding{
				Object: p.name, Versions: contracts, Message: fmt.Sprintf("its help does not have the flag --namespace: %.300q", help),
			})
		}
	}
	switch {
	case !checked:
		return nil
	case len(result.Findings) > 0:
		result.Status = conformance.Failed
	case result.Reason != "":
		result.Status, result.Versions = conformance.Unfinished, nil
	}
	return []conformance.Result{result}
}

// help returns what the program prints with --help, and an error if it does not end by itself.
func (p *process) help(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	command := p.command(ctx, "--help")
	output, err := command.CombinedOutput()
	if command.Process != nil {
		p.endChildren(command)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil // some programs end with an error
	}
	if ctx.Err() != nil {
		err = errors.New("it does not end; the command of a program must pass on the arguments that follow it")
	}
	return string(output), err
}
