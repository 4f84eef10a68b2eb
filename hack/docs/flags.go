// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// managerFile is the page with the flags of the manager.
const managerFile = "docs/manager.md"

// flagsSection is the part of the page with the flags.
var flagsSection = generated{
	file: managerFile, begin: "<!-- flags: written by make generate -->\n", end: "<!-- end of flags -->\n",
}

// managerPage returns the page with the flags that the manager has.
func managerPage(root string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, managerFile))
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	manager.NewOptions(feature.MutableGates.DeepCopy()).AddFlags(flags)
	var table strings.Builder
	table.WriteString("\n| flag | default | meaning |\n| --- | --- | --- |\n")
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Deprecated == "" {
			fmt.Fprintf(&table, "| `--%s` | %s | %s |\n", flag.Name, code(flag.DefValue), cell(flag.Usage))
		}
	})
	table.WriteString("\n")
	filled, err := flagsSection.fill(string(content), table.String())
	return []byte(filled), err
}
