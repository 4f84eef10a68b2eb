// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"slices"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

// bill is a CycloneDX bill of materials without times and random numbers. version is the version of
// Foo's own programs.
type bill struct {
	version      string
	components   []cyclonedx.Component
	dependencies []cyclonedx.Dependency
}

// billOfProgram returns what a program consists of.
func billOfProgram(file, version string) ([]byte, error) {
	b := bill{version: version}
	program, err := b.addModules(file)
	if err != nil {
		return nil, fmt.Errorf("read the program of an image (make release builds it): %w", err)
	}
	return b.encode(program)
}

// billOfNode returns what the image of a node consists of: Debian packages, and the modules of Go
// programs that no package has.
func billOfNode(version, kubernetesVersion, architecture string, node image.Node, packages []image.Package) ([]byte, error) {
	tag := kubernetesVersion + "-" + version
	query := url.Values{"arch": {architecture}, "repository_url": {imageRepository + "node"}, "tag": {tag}}
	subject := component(cyclonedx.ComponentTypeContainer, "pkg:oci/node?"+query.Encode(), "node", tag)
	b := bill{version: version}
	var parts []string
	for _, one := range packages {
		parts = append(parts, b.add(component(cyclonedx.ComponentTypeLibrary, one.URL(), one.Name, one.Version)))
	}
	files := append(slices.Clone(node.Kubernetes), image.Program("foonode", node.Agent))
	for _, file := range node.System {
		if strings.HasPrefix(file.Path, "opt/foo/") && file.Kind == tar.TypeReg && file.Mode&0o111 != 0 {
			files = append(files, file)
		}
	}
	for _, file := range files {
		// Scripts, links and programs in other languages record no modules.
		if program, err := b.addModules(file.Source); err == nil {
			parts = append(parts, b.add(program))
		}
	}
	b.depend(subject.BOMRef, parts)
	return b.encode(subject)
}

// add adds a component unless it was added already, and returns its reference.
func (b *bill) add(one cyclonedx.Component) string {
	if !slices.ContainsFunc(b.components, func(known cyclonedx.Component) bool { return known.BOMRef == one.BOMRef }) {
		b.components = append(b.components, one)
	}
	return one.BOMRef
}

// depend records what something consists of. Programs of one module add up.
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

// addModules adds what Go's linker recorded in a program, and returns the component of the program
// itself.
func (b *bill) addModules(file string) (cyclonedx.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return cyclonedx.Component{}, err
	}
	program := module(cyclonedx.ComponentTypeApplication, info.Main.Path, b.version, "")
	if info.Main.Sum != "" {
		// Somebody else's program, built from its module.
		program = module(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version, info.Main.Sum)
	}
	parts := []string{b.add(module(cyclonedx.ComponentTypeLibrary, "stdlib", info.GoVersion, ""))}
	for _, used := range info.Deps {
		if used.Replace != nil {
			used = used.Replace
		}
		parts = append(parts, b.add(module(cyclonedx.ComponentTypeLibrary, used.Path, used.Version, used.Sum)))
	}
	b.depend(program.BOMRef, parts)
	return program, nil
}

func (b *bill) encode(subject cyclonedx.Component) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &subject}
	bom.Components, bom.Dependencies = &b.components, &b.dependencies
	var content bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return content.Bytes(), err
}

// module returns the component of a Go module. Modules in the sources have no sum.
func module(kind cyclonedx.ComponentType, path, version, sum string) cyclonedx.Component {
	one := component(kind, "pkg:golang/"+path+"@"+version, path, version)
	if sum != "" {
		one.Properties = &[]cyclonedx.Property{{Name: "golang:h1", Value: sum}}
	}
	return one
}

func component(kind cyclonedx.ComponentType, address, name, version string) cyclonedx.Component {
	return cyclonedx.Component{BOMRef: address, Type: kind, Name: name, Version: version, PackageURL: address}
}
