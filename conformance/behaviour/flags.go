// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
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
		if help := p.help(ctx); !namespaceFlag.MatchString(help) {
			result.Status = conformance.Failed
			result.Findings = append(result.Findings, conformance.Finding{
				Object: p.name, Versions: contracts, Message: fmt.Sprintf("its help does not have the flag --namespace: %.300q", help),
			})
		}
	}
	if !checked {
		return nil
	}
	return []conformance.Result{result}
}

// help returns what the program writes when it is called with --help; it ends with an error code in
// some flag packages.
func (p *process) help(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	command := exec.CommandContext(ctx, p.arguments[0], append(p.arguments[1:len(p.arguments):len(p.arguments)], "--help")...)
	command.Dir = p.folder
	output, err := command.CombinedOutput()
	if len(output) == 0 && err != nil {
		return err.Error()
	}
	return string(output)
}
