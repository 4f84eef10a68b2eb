// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// value is a measured value. Its unit says what it is, and contains no space.
type value struct {
	Unit   string
	Number float64
}

// measurement is one run of a benchmark.
type measurement struct {
	// Benchmark is its name, with parameters such as Pool/machines=500.
	Benchmark string
	Values    []value
}

// newMeasurement returns a measurement with the load of the machine before it, as a one-minute
// average.
func newMeasurement(benchmark string) *measurement {
	return &measurement{Benchmark: benchmark, Values: []value{{"load", loadAverage()}}}
}

func (m *measurement) add(unit string, number float64) {
	m.Values = append(m.Values, value{unit, number})
}

func (m *measurement) addSeconds(unit string, duration time.Duration) {
	m.add(unit, duration.Seconds())
}

// String returns the line that benchstat reads.
func (m *measurement) String() string {
	text := fmt.Sprintf("Benchmark%s 1", m.Benchmark)
	for _, one := range m.Values {
		text += fmt.Sprintf(" %.6g %s", one.Number, one.Unit)
	}
	return text
}

// results are all runs, in the order in which they were measured.
type results struct {
	KubernetesVersion string
	CPUs              int
	Began             time.Time
	Runs              []*measurement
	targets           []target
}

func newResults(options options) *results {
	return &results{KubernetesVersion: options.kubernetesVersion, CPUs: runtime.NumCPU(), Began: time.Now(), targets: targetsOf(options)}
}

func (r *results) add(runs ...*measurement) {
	r.Runs = append(r.Runs, runs...)
	progress("%s", runs[0])
}

// numbers returns the numbers of one unit in all runs of a benchmark.
func (r *results) numbers(benchmark, unit string) []float64 {
	var found []float64
	for _, one := range r.Runs {
		for _, value := range one.Values {
			if one.Benchmark == benchmark && value.Unit == unit {
				found = append(found, value.Number)
			}
		}
	}
	return found
}

// median returns the middle of the numbers, the mean of the two middle ones if their count is even,
// and 0 for none.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}

// write prints the lines for benchstat and the tables, and writes all runs to a file if its path is
// not empty.
func (r *results) write(out io.Writer, path string) error {
	if _, err := io.WriteString(out, r.text()); err != nil {
		return err
	}
	if path == "" {
		return nil
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	defer func() { _ = folder.Close() }()
	if err := folder.WriteFile(filepath.Base(path), append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// text returns a line for each run, a table with a column for each run, and the targets.
func (r *results) text() string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "Kubernetes %s, %d CPUs, %s\n\n", r.KubernetesVersion, r.CPUs, r.Began.UTC().Format(time.RFC3339))
	for _, one := range r.Runs {
		fmt.Fprintln(out, one)
	}
	r.printTable(out)
	r.printTargets(out)
	return out.String()
}

func (r *results) printTable(out *strings.Builder) {
	table := newTable(out, "Each run, and the median", "benchmark", "unit", "runs", "median")
	seen := map[string]bool{}
	for _, one := range r.Runs {
		if seen[one.Benchmark] {
			continue
		}
		seen[one.Benchmark] = true
		for _, value := range one.Values {
			numbers := r.numbers(one.Benchmark, value.Unit)
			cells := make([]string, 0, len(numbers))
			for _, number := range numbers {
				cells = append(cells, short(number))
			}
			table.row(one.Benchmark, value.Unit, strings.Join(cells, " "), short(median(numbers)))
		}
	}
	table.end()
}

func short(number float64) string { return fmt.Sprintf("%.2f", number) }

// table is printed with aligned columns.
type table struct{ *tabwriter.Writer }

func newTable(out io.Writer, title string, header ...string) table {
	_, _ = fmt.Fprintf(out, "\n%s\n", title) // writing to a builder cannot fail
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(header...)
	return t
}

func (t table) row(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")) }

func (t table) end() { _ = t.Flush() }
