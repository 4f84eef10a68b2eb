// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capfoo/cluster-api-provider-foo/internal/reference"
)

// patterns find pages below the root folder.
var patterns = []string{"*.md", "docs/*.md", "docs/conformance/*.md", "examples/*.md", "packaging/*.md"}

var (
	continued = regexp.MustCompile(`\\\n\s*`)
	fenced    = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```")
	inline    = regexp.MustCompile("`([^`\n]+)`")
	// quickstart is the target of make that passes ARGS to foo.
	quickstart = regexp.MustCompile(`make quickstart ARGS='([^']*)'`)
	// beyond is where a command ends in its line.
	beyond = regexp.MustCompile(`\s(?:#|\||>|&&|;).*$`)
)

// Program returns what is wrong with the documentation of a program below the root folder: its
// reference, the commands that pages show, and its help.
func Program(program func() *cobra.Command, root string) error {
	page := filepath.Join(root, "docs/commands", program().Name()+".md")
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if string(content) != reference.Page(program()) {
		err = fmt.Errorf("%s is stale: run make generate", page)
	}
	shown, wrong := commands(program, root)
	if shown < 10 {
		err = errors.Join(err, fmt.Errorf("the pages show only %d commands of %s, want at least 10", shown, program().Name()))
	}
	return errors.Join(err, wrong, unexplained(program()))
}

// unexplained returns which commands that users run lack a description or an example.
func unexplained(command *cobra.Command) error {
	var problems []error
	if !command.Hidden && (command.Short == "" || command.Example == "") {
		problems = append(problems, fmt.Errorf("%s has no description or no example", command.CommandPath()))
	}
	for _, child := range command.Commands() {
		problems = append(problems, unexplained(child))
	}
	return errors.Join(problems...)
}

// commands returns how many commands of the program the pages below a folder show, and what is wrong with
// them. Only commands in blocks must have all their arguments.
func commands(program func() *cobra.Command, folder string) (int, error) {
	called := regexp.MustCompile(`^\s*(?:sudo )?(?:bin/)?` + program().Name() + ` (\S.*)$`)
	checked := 0
	var problems []error
	for _, pattern := range patterns {
		pages, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return 0, err
		}
		for _, page := range pages {
			content, err := os.ReadFile(page)
			if err != nil {
				return 0, err
			}
			for line, whole := range lines(string(content)) {
				if command := called.FindStringSubmatch(line); command != nil {
					checked++
					problems = append(problems, call{page, command[1], whole}.problem(program()))
				}
			}
		}
	}
	return checked, errors.Join(problems...)
}

// lines returns the lines of code of a page, and whether they are in a block.
func lines(page string) map[string]bool {
	found := map[string]bool{}
	page = quickstart.ReplaceAllString(continued.ReplaceAllString(page, " "), "foo quickstart $1")
	for _, code := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		found[code[1]] = false
	}
	for _, block := range fenced.FindAllString(page, -1) {
		for line := range strings.Lines(block) {
			found[beyond.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")] = true
		}
	}
	return found
}

// call is a command on a page. A whole one has all its arguments.
type call struct {
	page, line string
	whole      bool
}

// problem returns why the program would refuse the command.
func (c call) problem(root *cobra.Command) error {
	wrong := func(err error) error { return fmt.Errorf("%s: %s %s: %w", c.page, root.Name(), c.line, err) }
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	command, rest, err := root.Find(strings.Fields(strings.ReplaceAll(c.line, "'", "")))
	if err != nil {
		return wrong(err)
	}
	command.InitDefaultHelpFlag()
	// A sentence may name a flag without a value.
	var valueMissing *pflag.ValueRequiredError
	if err := command.ParseFlags(rest); err != nil && (c.whole || !errors.As(err, &valueMissing)) {
		return wrong(err)
	}
	arguments := command.Flags().Args()
	if command.HasSubCommands() && len(arguments) > 0 {
		return wrong(fmt.Errorf("unknown command %q", arguments[0]))
	}
	if help := command.Flags().Lookup("help"); !c.whole || command.HasSubCommands() || help.Changed {
		return nil
	}
	if err := errors.Join(command.ValidateArgs(arguments), command.ValidateRequiredFlags()); err != nil {
		return wrong(err)
	}
	return nil
}
