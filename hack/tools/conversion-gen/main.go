// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command conversion-gen is Kubernetes' conversion-gen for API packages named api/VERSION/GROUP.
//
// Kubernetes' own command names a conversion function after the last element of both import paths.
// Here that is the group, which both versions share, so it would generate each function twice.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/code-generator/cmd/conversion-gen/args"
	"k8s.io/code-generator/cmd/conversion-gen/generators"
	"k8s.io/gengo/v2"
	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"
)

func main() {
	options := args.New()
	options.AddFlags(pflag.CommandLine)
	pflag.Parse()
	if err := run(options, pflag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "conversion-gen:", err)
		os.Exit(1)
	}
}

func run(options *args.Args, packages []string) error {
	if err := options.Validate(); err != nil {
		return err
	}
	names := generators.NameSystems()
	public, ok := names["public"].(*namer.NameStrategy)
	if !ok {
		return fmt.Errorf("unexpected namer of functions: %T", names["public"])
	}
	public.IgnoreWords = map[string]bool{"controlplane": true, "infrastructure": true}
	targets := func(context *generator.Context) []generator.Target {
		result := generators.GetTargets(context, options)
		for _, target := range result {
			if simple, ok := target.(*generator.SimpleTarget); ok {
				simple.GeneratorsFunc = byVersion(simple.GeneratorsFunc, public)
			}
		}
		return result
	}
	return gengo.Execute(names, generators.DefaultNameSystem(), targets, options.GeneratedBuildTag, packages)
}

// byVersion makes generators use names for the functions that they generate.
func byVersion(from func(*generator.Context) []generator.Generator, names namer.Namer) func(*generator.Context) []generator.Generator {
	return func(context *generator.Context) []generator.Generator {
		result := from(context)
		for i := range result {
			result[i] = renaming{Generator: result[i], names: names}
		}
		return result
	}
}

type renaming struct {
	generator.Generator
	names namer.Namer
}

// Namers replaces the namer that the generator makes for itself.
func (r renaming) Namers(context *generator.Context) namer.NameSystems {
	systems := r.Generator.Namers(context)
	systems["publicIT"] = importing{importer: systems["publicIT"], names: r.names}
	return systems
}

// importing names types, while the importer notes which packages to import.
type importing struct{ importer, names namer.Namer }

// Name returns the name of a type in the name of a function.
func (i importing) Name(of *types.Type) string {
	i.importer.Name(of)
	return i.names.Name(of)
}
