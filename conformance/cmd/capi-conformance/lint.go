// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
	"github.com/capfoo/cluster-api-provider-foo/conformance/output"
)

// checkFlags are the flags of commands that check a provider.
type checkFlags struct {
	contracts, skip []string
	strict, undated bool
	format, output  string
	name, version   string
	url, reproduce  string
}

func (f *checkFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringSliceVar(&f.contracts, "contract-version", nil, "versions of the contracts to check; the default is those that the provider claims")
	flags.StringArrayVar(&f.skip, "skip", nil, "RULE=REASON: a rule that does not count; may be repeated")
	flags.BoolVar(&f.strict, "strict", false, "recommendations count as well")
	flags.StringVarP(&f.format, "format", "f", "text", "format of the report: "+strings.Join(output.Names(), ", "))
	flags.StringVarP(&f.output, "output", "o", "", "file to write the report to instead of the standard output; then the text is also shown")
	flags.StringVar(&f.name, "name", "", "name of the implementation, for the report; the default is the provider's label")
	flags.StringVar(&f.version, "version", "", "version of the implementation, for the report")
	flags.StringVar(&f.url, "url", "", "where the implementation is, for the report")
	flags.StringVar(&f.reproduce, "reproduce", "", "command that gives the same report, for the report; the default is this one")
	flags.BoolVar(&f.undated, "undated", false, "leave out the date, so that equal results give equal reports")
}

func (f *checkFlags) options() conformance.Options {
	options := conformance.Options{
		Contracts: f.contracts, Strict: f.strict, Skip: map[string]string{}, Suite: suiteVersion(),
		Implementation: conformance.Implementation{Name: f.name, Version: f.version, URL: f.url},
		Reproduce:      cmp.Or(f.reproduce, "capi-conformance "+strings.Join(quoted(os.Args[1:]), " ")),
	}
	for _, skip := range f.skip {
		id, reason, _ := strings.Cut(skip, "=")
		options.Skip[id] = reason
	}
	return options
}

// quoted returns the arguments as a shell takes them.
func quoted(args []string) []string {
	words := make([]string, 0, len(args))
	for _, arg := range args {
		if strings.ContainsAny(arg, " '\"$`\\*?[]{}()<>|&;") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return words
}

func suiteVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// check returns an error if the report could not be written, before the checks take their time.
func (f *checkFlags) check() error {
	if _, err := output.ByName(f.format); err != nil {
		return usage(err)
	}
	if f.output == "" {
		return nil
	}
	_, missing := os.Lstat(f.output)
	file, err := os.OpenFile(f.output, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err == nil && errors.Is(missing, fs.ErrNotExist) {
		err = os.Remove(f.output)
	}
	if err != nil {
		return usage(fmt.Errorf("--output: %w", err))
	}
	return nil
}

// report checks the provider, and writes the report.
func (f *checkFlags) report(command *cobra.Command, options conformance.Options) error {
	report, err := conformance.Check(command.Context(), options)
	if err != nil {
		return err
	}
	return f.write(command, report)
}

// write writes the report, and returns errFindings if the provider breaks rules.
func (f *checkFlags) write(command *cobra.Command, report *conformance.Report) error {
	format, err := output.ByName(f.format)
	if err != nil {
		return usage(err)
	}
	if f.undated {
		report.Date = ""
	}
	if f.output != "" {
		if err := f.store(format, report); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.output, err), output.Text(command.OutOrStdout(), report))
		}
		format = output.Text
	}
	if err := format(command.OutOrStdout(), report); err != nil {
		return err
	}
	if len(report.Broken()) > 0 {
		return errFindings
	}
	return nil
}

// store writes the report to the file, which stays as it was if there is no such report.
func (f *checkFlags) store(format output.Format, report *conformance.Report) error {
	var content bytes.Buffer
	if err := format(&content, report); err != nil {
		return err
	}
	return os.WriteFile(f.output, content.Bytes(), 0o644) //nolint:gosec // a report has no secrets
}

func newLintCommand() *cobra.Command {
	flags := checkFlags{}
	var kubeconfig, context string
	command := &cobra.Command{
		Use:   "lint [FILE | FOLDER | OCI-LAYOUT | -]...",
		Short: "Check manifests of a provider, without running it",
		Long: `Check manifests of a provider, without running it.

A folder may be a clusterctl repository, one release in it, or any folder with manifests. - is the
standard input. Kustomizations must be built first. With --kubeconfig, the providers of a
management cluster are checked.`,
		Example: `  capi-conformance lint infrastructure-components.yaml
  capi-conformance lint out/
  kustomize build config/default | capi-conformance lint --strict -
  capi-conformance lint --kubeconfig management.kubeconfig
  capi-conformance lint out/ --format junit --output conformance.xml`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			releases, err := releases(command, args, kubeconfig, context)
			if err != nil {
				return err
			}
			options := flags.options()
			if err := options.Validate(); err != nil {
				return usage(err)
			}
			name, version := lint.Implementation(releases)
			options.Implementation = named(options.Implementation, conformance.Implementation{Name: name, Version: version})
			options.Checkers = []conformance.Checker{&lint.Linter{Releases: releases}}
			return flags.report(command, options)
		},
	}
	flags.add(command)
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of a management cluster whose providers are checked")
	command.Flags().StringVar(&context, "context", "", "context in the kubeconfig")
	return command
}

// requestTimeout bounds a request to a management cluster that does not answer.
const requestTimeout = time.Minute

func connect(kubeconfig, context string) (dynamic.Interface, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = requestTimeout
	return dynamic.NewForConfig(config)
}

func releases(command *cobra.Command, args []string, kubeconfig, context string) ([]*lint.Release, error) {
	switch {
	case kubeconfig != "" && len(args) > 0:
		return nil, usage(errors.New("name either files or --kubeconfig"))
	case kubeconfig != "":
		client, err := connect(kubeconfig, context)
		if err != nil {
			return nil, usage(fmt.Errorf("--kubeconfig %s: %w", kubeconfig, err))
		}
		return lint.LoadCluster(command.Context(), client)
	case len(args) == 0:
		return nil, usage(errors.New("name a file, a folder, - or --kubeconfig"))
	default:
		found, err := lint.Load(command.InOrStdin(), args...)
		return found, usage(err)
	}
}
