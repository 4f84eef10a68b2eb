// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package output writes reports: as text, as a ConformanceReport in YAML, as JUnit, as annotations
// of GitHub, as HTML, as Markdown and as a badge.
package output

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	_ "embed"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// Format writes a report.
type Format func(out io.Writer, report *conformance.Report) error

var formats = map[string]Format{"text": Text, "yaml": YAML, "junit": JUnit, "github": GitHub, "html": HTML, "markdown": Markdown, "badge": Badge}

// Names lists the formats.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

// ByName returns the format with the name.
func ByName(name string) (Format, error) {
	if format, ok := formats[name]; ok {
		return format, nil
	}
	return nil, fmt.Errorf("format %q is unknown; allowed: %s", name, strings.Join(Names(), ", "))
}

// Text writes the findings by rule, and a summary.
func Text(out io.Writer, report *conformance.Report) error {
	w := &writer{out: out}
	counts := map[conformance.Status]int{}
	for _, result := range report.Results {
		counts[result.Status]++
		if !slices.Contains([]conformance.Status{conformance.Failed, conformance.Warned, conformance.Unfinished}, result.Status) {
			continue
		}
		rule, err := conformance.Find(result.Rule)
		if err != nil {
			return err
		}
		w.printf("%s %s\n", title(result.Status), rule.ID)
		if result.Status == conformance.Unfinished {
			w.printf("  %s\n\n", result.Reason)
			continue
		}
		for _, finding := range result.Findings {
			w.printf("  %s: %s\n", finding.Place(), finding.Message)
		}
		w.printf("  contract: %s\n  impact:   %s\n  fix:      %s\n  %s\n\n", rule.Sentence, rule.Impact, rule.Fix, rule.URL)
	}
	w.printf("%s\n", summary(report, counts))
	return w.err
}

func title(status conformance.Status) string {
	switch status {
	case conformance.Failed:
		return "error"
	case conformance.Unfinished:
		return "unfinished"
	default:
		return "warning"
	}
}

func summary(report *conformance.Report, counts map[conformance.Status]int) string {
	var parts []string
	for _, status := range []conformance.Status{
		conformance.Passed, conformance.Failed, conformance.Unfinished, conformance.Warned, conformance.NotClaimed, conformance.NotApplicable, conformance.NotRun, conformance.Skipped,
	} {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
		}
	}
	about := strings.TrimSpace(report.Implementation.Name + " " + report.Implementation.Version)
	if len(report.Contracts) > 0 { // a run that ends early judges nothing
		about = strings.TrimPrefix(about+", contract "+strings.Join(report.Contracts, " and "), ", ")
	}
	if about != "" {
		about += ": "
	}
	return about + strings.Join(parts, ", ")
}

// YAML writes the report itself.
func YAML(out io.Writer, report *conformance.Report) error {
	data, err := yaml.Marshal(report)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

type (
	suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []test   `xml:"testcase"`
	}
	test struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure"`
		Skipped *message `xml:"skipped"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test case for each rule.
func JUnit(out io.Writer, report *conformance.Report) error {
	s := suite{Name: "capi-conformance"}
	for _, result := range report.Results {
		s.add(report, result)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// add adds the test case of a result.
func (s *suite) add(report *conformance.Report, result conformance.Result) {
	s.Tests++
	c := test{Class: string(result.Level), Name: result.Rule}
	lines := make([]string, 0, len(result.Findings))
	for _, finding := range result.Findings {
		lines = append(lines, finding.Place()+": "+finding.Message)
	}
	text := strings.Join(lines, "\n")
	switch {
	case result.Status == conformance.Passed:
	case result.Status == conformance.Unfinished:
		s.Failures++
		c.Failure = &message{Message: "the check could not be finished", Text: result.Reason}
	case report.Breaks(result):
		s.Failures++
		c.Failure = &message{Message: fmt.Sprintf("%d findings", len(lines)), Text: text}
	case result.Status == conformance.Warned:
		c.Output = text
	default:
		s.Skipped++
		c.Skipped = &message{Message: strings.TrimSpace(string(result.Status) + " " + result.Reason)}
	}
	s.Cases = append(s.Cases, c)
}

// These encode what would end a message or a property of an annotation. GitHub decodes only that.
var (
	escapedMessage = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escaped        = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub writes an annotation for each finding, and for each check that could not be finished.
func GitHub(out io.Writer, report *conformance.Report) error {
	w := &writer{out: out}
	for _, result := range report.Results {
		kind := "warning"
		if report.Breaks(result) {
			kind = "error"
		}
		if result.Status == conformance.Unfinished {
			w.printf("::%s title=%s::%s\n", kind, escaped.Replace(result.Rule), escapedMessage.Replace(result.Reason))
		}
		for _, finding := range result.Findings {
			place := ""
			if finding.File != "" {
				place = fmt.Sprintf("file=%s,line=%d,", escaped.Replace(finding.File), max(finding.Line, 1))
			}
			w.printf("::%s %stitle=%s::%s\n", kind, place, escaped.Replace(result.Rule), escapedMessage.Replace(strings.TrimSpace(finding.Object+" "+finding.Message)))
		}
	}
	return w.err
}

//go:embed report.html.tmpl
var page string

// HTML writes one page that needs nothing else.
func HTML(out io.Writer, report *conformance.Report) error {
	parsed, err := template.New("report").Funcs(template.FuncMap{"rule": conformance.Find}).Parse(page)
	if err != nil {
		return err
	}
	return parsed.Execute(out, report)
}

// writer remembers the first error.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, args...)
	}
}
