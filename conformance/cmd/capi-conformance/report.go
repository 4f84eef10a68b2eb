// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/output"
)

func newReportCommand() *cobra.Command {
	flags := checkFlags{}
	command := &cobra.Command{
		Use:   "report FILE...",
		Short: "Write reports that were stored as YAML as one report in another format",
		Long: `Write reports that were stored as YAML as one report in another format.

The reports are about one implementation, for example its lint and its behaviour.
With --undated, a check writes the same report for the same results, to be committed.`,
		Example: `  capi-conformance lint out/ -f yaml -o lint.yaml
  capi-conformance report lint.yaml behaviour.yaml -f markdown -o contract.md`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(command *cobra.Command, args []string) error {
			var reports []*conformance.Report
			for _, path := range args {
				report, err := readReport(path)
				if err != nil {
					return usage(err)
				}
				reports = append(reports, report)
			}
			merged, err := conformance.Merge(reports...)
			if err != nil {
				return usage(err)
			}
			return flags.write(command, merged)
		},
	}
	command.Flags().StringVarP(&flags.format, "format", "f", "text", "format of the report: "+strings.Join(output.Names(), ", "))
	command.Flags().StringVarP(&flags.output, "output", "o", "", "file to write the report to instead of the standard output; then the text is also shown")
	return command
}

func readReport(path string) (*conformance.Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	report := &conformance.Report{}
	if err := yaml.UnmarshalStrict(data, report); err != nil {
		return nil, fmt.Errorf("%s is no report: %w", path, err)
	}
	if report.Kind != conformance.ReportKind || report.APIVersion != conformance.ReportAPIVersion {
		return nil, fmt.Errorf("%s is a %q of %q, want a %s of %s", path, report.Kind, report.APIVersion, conformance.ReportKind, conformance.ReportAPIVersion)
	}
	return report, nil
}
