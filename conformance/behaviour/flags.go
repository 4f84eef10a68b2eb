// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// flags find flags in the help of a program, as Go's flag packages write it.
var flags = map[string]*regexp.Regexp{"--namespace": flagNamed("namespace"), "--watch-filter": flagNamed("watch-filter")}

func flagNamed(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(-\w, )?--?` + name + `([ \t=]|$)`)
}

// helped is the help of a program with controllers.
type helped struct {
	*process

	text string
	err  error
}

// has reports whether the program has the controllers of a kind: it comes with the kind's CRD.
func (p *process) has(kind *Kind) bool {
	return slices.Contains(p.kinds, schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
}

// checkFlags looks for the flags that the contracts demand in the help of each program with controllers of the kinds.
// There is no result without one, as for a provider in this process.
func (c *Checker) checkFlags(ctx context.Context, contracts []string) []conformance.Result {
	var helps []helped
	for _, p := range c.programs.processes {
		if !slices.ContainsFunc(slices.Collect(maps.Values(c.Config.Kinds)), p.has) {
			continue
		}
		text, err := p.help(ctx)
		helps = append(helps, helped{p, text, err})
	}
	if len(helps) == 0 {
		return nil
	}
	results := []conformance.Result{checkHelp("clusterctl/namespace-flag", helps, contracts, "--namespace")}
	for _, role := range slices.Sorted(maps.Keys(c.Config.Kinds)) {
		rule := string(role) + "/multiple-instances"
		claimed := slices.DeleteFunc(slices.Clone(contracts), func(contract string) bool { return c.wanted(rule, contract) != "" })
		own := slices.DeleteFunc(slices.Clone(helps), func(h helped) bool { return !h.has(c.Config.Kinds[role]) })
		if len(claimed) > 0 && len(own) > 0 {
			results = append(results, checkHelp(rule, own, claimed, "--namespace", "--watch-filter"))
		}
	}
	return results
}

// checkHelp checks that each help has the flags.
func checkHelp(rule string, helps []helped, contracts []string, names ...string) conformance.Result {
	result := conformance.Result{Rule: rule, Level: conformance.Behaviour, Status: conformance.Passed, Versions: contracts}
	for _, help := range helps {
		for _, name := range names {
			switch {
			case flags[name].MatchString(help.text):
			case help.err != nil:
				result.Reason = fmt.Sprintf("%s --help: %v", help.name, help.err)
			default:
				result.Findings = append(result.Findings, conformance.Finding{
					Object: help.name, Versions: contracts, Message: fmt.Sprintf("its help does not have the flag %s: %.300q", name, help.text),
				})
			}
		}
	}
	switch {
	case len(result.Findings) > 0:
		result.Status = conformance.Failed
	case result.Reason != "":
		result.Status, result.Versions = conformance.Unfinished, nil
	}
	return result
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
