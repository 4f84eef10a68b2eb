// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is printed with aligned columns.
type table struct {
	title  string
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(out *strings.Builder) {
	fmt.Fprintf(out, "\n%s\n", t.title)
	writer := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, cells := range append([][]string{t.header}, t.rows...) {
		_, _ = fmt.Fprintln(writer, strings.Join(cells, "\t")) // writing to a builder cannot fail
	}
	_ = writer.Flush()
}

// median returns the middle of the values, the mean of the two middle ones if their number is even,
// and 0 for none.
func median[T time.Duration | float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	upper := sorted[len(sorted)/2]
	lower := sorted[(len(sorted)-1)/2]
	return (lower + upper) / 2
}

func seconds(duration time.Duration) string { return fmt.Sprintf("%.1f s", duration.Seconds()) }

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.0f MiB", inMebibytes(bytes)) }

func inMebibytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
