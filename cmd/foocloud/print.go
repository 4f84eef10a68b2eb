// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/liggitt/tabwriter"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// Output formats.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
)

// view says how objects of a kind are shown.
type view[T any] struct {
	// columns of the table; those that end in wideMark are shown only in wide tables.
	columns []string
	// rows returns the rows of an object.
	rows func(T) [][]any
	// name returns the name of an object; nil if it has none.
	name func(T) string
}

// wideMark ends the name of a column that only wide tables have.
const wideMark = "*"

func (v view[T]) table(items []T) *metav1.Table {
	table := &metav1.Table{}
	for _, name := range v.columns {
		name, wide := strings.CutSuffix(name, wideMark)
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		if wide {
			column.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	for _, item := range items {
		for _, cells := range v.rows(item) {
			table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
		}
	}
	return table
}

func (v view[T]) formats() []string {
	formats := []string{formatTable, formatWide, formatJSON, formatYAML}
	if v.name != nil {
		formats = append(formats, formatName)
	}
	return formats
}

// printer prints objects of a kind. Tables that it prints one after another have one header and the
// same column widths, and YAML documents a line between them.
type printer[T any] struct {
	view   view[T]
	format string
	tables printers.ResourcePrinter
	// lines aligns columns, and text collects what is printed. It is written in one call, because head
	// may end after the first line, and the next call would then end the program with SIGPIPE.
	lines *tabwriter.Writer
	text  bytes.Buffer
	// documents tells that a YAML document has been printed.
	documents bool
}

// addOutputFlag adds the flag that chooses the format.
func (p *printer[T]) addOutputFlag(command *cobra.Command) {
	formats := p.view.formats()
	command.Flags().StringVarP(&p.format, "output", "o", formatTable, "output format: "+strings.Join(formats, ", "))
	mustComplete(command, "output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

func (p *printer[T]) check(command *cobra.Command) error {
	if formats := p.view.formats(); !slices.Contains(formats, p.format) {
		return cli.Usage(command, fmt.Errorf("--output %q: must be %s", p.format, strings.Join(formats, ", ")))
	}
	return nil
}

// withCloud returns a command's function that runs with a client, once the format and the connection are valid.
func (p *printer[T]) withCloud(c *connection, run func(*cobra.Command, []string, *client.Client) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		if err := p.check(command); err != nil {
			return err
		}
		cloud, err := c.client()
		if err != nil {
			return err
		}
		return run(command, args, cloud)
	}
}

// print prints objects. The value is what JSON and YAML show: a list of the objects, or the only
// one.
func (p *printer[T]) print(out io.Writer, value any, items ...T) error {
	switch p.format {
	case formatJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case formatYAML:
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		if p.documents {
			text = append([]byte("---\n"), text...)
		}
		p.documents = true
		_, err = out.Write(text)
		return err
	case formatName:
		for _, item := range items {
			fmt.Fprintln(&p.text, p.view.name(item))
		}
	default:
		if p.tables == nil {
			p.tables = printers.NewTablePrinter(printers.PrintOptions{Wide: p.format == formatWide})
			p.lines = printers.GetNewTabWriter(&p.text)
		}
		if err := p.tables.PrintObj(p.view.table(items), p.lines); err != nil {
			return err
		}
		if err := p.lines.Flush(); err != nil {
			return err
		}
	}
	_, err := p.text.WriteTo(out)
	return err
}

// mustComplete registers what completes a flag. It fails only for a flag that the command lacks.
func mustComplete(command *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(flag, complete); err != nil {
		command.PrintErrln(err)
	}
}
