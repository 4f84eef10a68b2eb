// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"slices"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
)

// goSection is the section of a program in which Go's linker notes what the program is made of.
const goSection = ".go.buildinfo"

// bill says what something that is released is made of, in CycloneDX's form. It holds neither a time nor a number that only
// this run has.
type bill struct {
	subject      cyclonedx.Component
	components   []cyclonedx.Component
	dependencies []cyclonedx.Dependency
	known        map[string]bool
}

// billOfProgram returns what a program is made of.
func billOfProgram(content []byte, version string) ([]byte, error) {
	b := bill{known: map[string]bool{}}
	var err error
	if b.subject, err = b.addModules(bytes.NewReader(content), version); err != nil {
		return nil, err
	}
	return b.encode()
}

// billOfNode returns what the image of a node is made of: Debian packages, and the modules of files that are programs of Go.
func billOfNode(subject cyclonedx.Component, packages []image.Package, files []image.File, version string) ([]byte, error) {
	b := bill{subject: subject, known: map[string]bool{}}
	var parts []string
	for _, one := range packages {
		parts = append(parts, b.add(cyclonedx.Component{
			BOMRef: one.URL(), Type: cyclonedx.ComponentTypeLibrary, Name: one.Name, Version: one.Version, PackageURL: one.URL(),
		}))
	}
	for _, file := range files {
		programs, err := b.addProgram(file, version)
		if err != nil {
			return nil, fmt.Errorf("/%s: %w", file.Path, err)
		}
		parts = append(parts, programs...)
	}
	b.depend(subject.BOMRef, parts)
	return b.encode()
}

// add adds a component that may be there already, and returns its reference.
func (b *bill) add(one cyclonedx.Component) string {
	if !b.known[one.BOMRef] {
		b.known[one.BOMRef] = true
		b.components = append(b.components, one)
	}
	return one.BOMRef
}

// depend notes what something is made of. Programs of one module add up.
func (b *bill) depend(on string, parts []string) {
	at := slices.IndexFunc(b.dependencies, func(known cyclonedx.Dependency) bool { return known.Ref == on })
	if at < 0 {
		at = len(b.dependencies)
		b.dependencies = append(b.dependencies, cyclonedx.Dependency{Ref: on, Dependencies: &[]string{}})
	}
	all := slices.Concat(*b.dependencies[at].Dependencies, parts)
	slices.Sort(all)
	all = slices.Compact(all)
	b.dependencies[at].Dependencies = &all
}

// addProgram adds what a file is made of, and returns the reference of the program, or none if Go did not make the file.
func (b *bill) addProgram(file image.File, version string) ([]string, error) {
	content, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	program, err := elf.NewFile(content)
	if err != nil || program.Section(goSection) == nil {
		return nil, nil // a script, or a program in another language
	}
	one, err := b.addModules(content, version)
	if err != nil {
		return nil, err
	}
	return []string{b.add(one)}, nil
}

// addModules adds what Go's linker has noted in a program, and returns the component that the program itself is.
func (b *bill) addModules(content io.ReaderAt, version string) (cyclonedx.Component, error) {
	info, err := buildinfo.Read(content)
	if err != nil {
		return cyclonedx.Component{}, fmt.Errorf("what a program is made of: %w", err)
	}
	program := component(cyclonedx.ComponentTypeApplication, info.Main.Path, version)
	if info.Main.Sum != "" {
		// It is one of somebody else, built from its module.
		program = component(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
		program.Properties = &[]cyclonedx.Property{{Name: "golang:h1", Value: info.Main.Sum}}
	}
	parts := []string{b.add(component(cyclonedx.ComponentTypeLibrary, "stdlib", info.GoVersion))}
	for _, module := range info.Deps {
		path, moduleVersion, sum := module.Path, module.Version, module.Sum
		if module.Replace != nil {
			path, moduleVersion, sum = module.Replace.Path, module.Replace.Version, module.Replace.Sum
		}
		one := component(cyclonedx.ComponentTypeLibrary, path, moduleVersion)
		one.Properties = &[]cyclonedx.Property{{Name: "golang:h1", Value: sum}}
		parts = append(parts, b.add(one))
	}
	b.depend(program.BOMRef, parts)
	return program, nil
}

func (b *bill) encode() ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &b.subject}
	bom.Components, bom.Dependencies = &b.components, &b.dependencies
	var content bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("what %s is made of: %w", b.subject.Name, err)
	}
	return content.Bytes(), nil
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
