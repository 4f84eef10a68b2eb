// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/drone/envsubst/v2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/variables"
)

// Variable is a variable in a manifest that clusterctl substitutes.
type Variable = variables.Variable

// blockVariable is a line with nothing but a variable, whose value may be several lines, such as more fields.
var blockVariable = regexp.MustCompile(`(?m)^[ \t]*\$\{\w+}[ \t]*\r?$`)

// substitute returns the variables, and the text as clusterctl would make it with defaults and with
// made up values for other variables.
func substitute(text string) ([]Variable, string, error) {
	if !strings.Contains(text, "${") {
		return nil, text, nil
	}
	found, text, err := variables.Find(text)
	if err != nil {
		return nil, text, err
	}
	text, err = envsubst.Eval(text, func(name string) string {
		if slices.Contains(found, Variable{Name: name, Default: true}) {
			return ""
		}
		return madeUp(name)
	})
	if err != nil {
		return found, text, fmt.Errorf("variables: %w", err)
	}
	return found, text, nil
}

// madeUp returns a value that fits where the variable is used in names, versions and counts.
func madeUp(name string) string {
	switch {
	case name == "KUBERNETES_VERSION":
		return "v1.30.0"
	case strings.HasSuffix(name, "_COUNT"), strings.HasSuffix(name, "_REPLICAS"), strings.HasSuffix(name, "_PORT"):
		return "1"
	default:
		return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
}
