// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// registeredName is the name in the text of a description, which has no other way to tell it.
var registeredName = regexp.MustCompile(`fqName: "([^"]+)"`)

// Metrics compares the rows of a section of a page with the metrics that a collector describes.
func Metrics(collector prometheus.Collector, page, section string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	_, text, found := strings.Cut(string(content), "\n## "+section+"\n")
	if !found {
		return fmt.Errorf("%s: no section %q", page, section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)`").FindAllStringSubmatch(text, -1) {
		rows = append(rows, row[1])
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		collector.Describe(descriptions)
	}()
	var names []string
	for description := range descriptions {
		names = append(names, registeredName.FindStringSubmatch(description.String())[1])
	}
	slices.Sort(rows)
	slices.Sort(names)
	if !slices.Equal(rows, names) {
		return fmt.Errorf("%s: section %q has %v, but the code has %v", page, section, rows, names)
	}
	return nil
}
