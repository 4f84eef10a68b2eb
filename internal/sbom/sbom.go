// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sbom writes bills of materials in the format CycloneDX, with the license of each part. They
// contain no times and random numbers, so that the same programs give the same bytes.
//
// Limits: programs must have been built on this machine, since licenses are read from Go's module
// cache. Licenses that are not recognized are named as "see" and where to look.
package sbom

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

// Release writes the bills of one release.
type Release struct {
	// version of Foo's own programs; repository of its images.
	version, repository string
	licenses            licenses
}

// NewRelease returns a writer for a version whose images are in a repository.
func NewRelease(version, repository string) Release {
	return Release{version: version, repository: repository, licenses: licenses{}}
}

// Node is what the image of a node is made of.
type Node struct {
	image.Node
	// Folder holds the operating system, which consists of Packages.
	Folder   string
	Packages []image.Package
}

// Program returns what a program consists of.
func (r Release) Program(file string) ([]byte, error) {
	b := r.newBill()
	program, err := b.addModules(file)
	if err != nil {
		return nil, err
	}
	return b.encode(program)
}

// Node returns what the image of a node consists of.
func (r Release) Node(kubernetesVersion, architecture string, node Node) ([]byte, error) {
	tag := kubernetesVersion + "-" + r.version
	query := url.Values{"arch": {architecture}, "repository_url": {r.repository + "node"}, "tag": {tag}}
	subject := component(cyclonedx.ComponentTypeContainer, "pkg:oci/node?"+query.Encode(), "node", tag)
	b := r.newBill()
	parts, err := b.addNode(node)
	if err != nil {
		return nil, err
	}
	b.depend(subject.BOMRef, parts)
	return b.encode(subject)
}

// Archive returns what the archive of an architecture consists of, and the texts of the licenses.
func (r Release) Archive(architecture string, programs []string, nodes []Node) (content, texts []byte, err error) {
	query := url.Values{"arch": {architecture}}
	subject := component(cyclonedx.ComponentTypeApplication, "pkg:github/capfoo/cluster-api-provider-foo@"+r.version+"?"+query.Encode(), "foo", r.version)
	b := r.newBill()
	var all []string
	for _, file := range programs {
		program, err := b.addModules(file)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, b.add(program))
	}
	for _, node := range nodes {
		parts, err := b.addNode(node)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, parts...)
	}
	b.depend(subject.BOMRef, all)
	content, err = b.encode(subject)
	return content, b.licenseTexts(), err
}

// bill is one bill of materials.
type bill struct {
	Release
	// texts holds what has each text of licenses.
	texts map[string][]string

	components   []cyclonedx.Component
	dependencies []cyclonedx.Dependency
}

func (r Release) newBill() *bill { return &bill{Release: r, texts: map[string][]string{}} }

// addNode adds Debian packages, and the modules of Go programs that no package has. It returns their
// references.
func (b *bill) addNode(node Node) ([]string, error) {
	var parts []string
	for _, one := range node.Packages {
		found := component(cyclonedx.ComponentTypeLibrary, one.URL(), one.Name, one.Version)
		parts = append(parts, b.add(ofPackage(node.Folder, one.Name).of(found)))
	}
	files := append(slices.Clone(node.Kubernetes), image.Program("foonode", node.Agent))
	for _, file := range node.System {
		if strings.HasPrefix(file.Path, "opt/foo/") && file.Kind == tar.TypeReg && file.Mode&0o111 != 0 {
			files = append(files, file)
		}
	}
	for _, file := range files {
		// Scripts, links and programs in other languages record no modules.
		if _, err := buildinfo.ReadFile(file.Source); err != nil {
			continue
		}
		program, err := b.addModules(file.Source)
		if err != nil {
			return nil, err
		}
		parts = append(parts, b.add(program))
	}
	return parts, nil
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
		return cyclonedx.Component{}, fmt.Errorf("read a program (make release builds it): %w", err)
	}
	program, err := b.module(cyclonedx.ComponentTypeApplication, &info.Main)
	if err != nil {
		return program, err
	}
	library := component(cyclonedx.ComponentTypeLibrary, "pkg:golang/stdlib@"+info.GoVersion, "stdlib", info.GoVersion)
	parts := []string{b.add(license{names: []string{"BSD-3-Clause"}}.of(library))}
	for _, used := range info.Deps {
		one, err := b.module(cyclonedx.ComponentTypeLibrary, used)
		if err != nil {
			return program, err
		}
		parts = append(parts, b.add(one))
	}
	b.depend(program.BOMRef, parts)
	return program, nil
}

// module returns the component of a Go module. Modules in Foo's sources have no sum.
func (b *bill) module(kind cyclonedx.ComponentType, used *debug.Module) (cyclonedx.Component, error) {
	if used.Replace != nil && used.Replace.Sum != "" {
		used = used.Replace
	}
	if used.Sum == "" {
		own := component(kind, "pkg:golang/"+used.Path+"@"+b.version, used.Path, b.version)
		return license{names: []string{"Apache-2.0"}}.of(own), nil
	}
	one := component(kind, "pkg:golang/"+used.Path+"@"+used.Version, used.Path, used.Version)
	one.Properties = &[]cyclonedx.Property{{Name: "golang:h1", Value: used.Sum}}
	found, err := b.licenses.ofModule(used.Path, used.Version)
	if err != nil {
		return one, err
	}
	if name := used.Path + " " + used.Version; !slices.Contains(b.texts[found.text], name) {
		b.texts[found.text] = append(b.texts[found.text], name)
	}
	return found.of(one), nil
}

// licenseTexts returns each text of licenses, below what has it.
func (b *bill) licenseTexts() (content []byte) {
	byNames := map[string]string{}
	for text, names := range b.texts {
		slices.Sort(names)
		byNames[strings.Join(names, "\n")] = text
	}
	for _, names := range slices.Sorted(maps.Keys(byNames)) {
		content = fmt.Appendf(content, "%s\n\n%s\n%s\n\n", names, byNames[names], strings.Repeat("-", 80))
	}
	return content
}

func (b *bill) encode(subject cyclonedx.Component) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &subject}
	bom.Components, bom.Dependencies = &b.components, &b.dependencies
	var content bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return content.Bytes(), err
}

func component(kind cyclonedx.ComponentType, address, name, version string) cyclonedx.Component {
	return cyclonedx.Component{BOMRef: address, Type: kind, Name: name, Version: version, PackageURL: address}
}
