/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials returns what a program is made of, in CycloneDX's form, from what Go's linker has noted in it. It holds
// neither a time nor a number that only this run has.
func billOfMaterials(program built, version string) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(program.content))
	if err != nil {
		return nil, fmt.Errorf("what %s is made of: %w", program.name, err)
	}
	bom := cyclonedx.NewBOM()
	subject := component(cyclonedx.ComponentTypeApplication, info.Main.Path, version)
	bom.Metadata = &cyclonedx.Metadata{Component: &subject}
	components := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "stdlib", info.GoVersion)}
	dependencies := []string{components[0].BOMRef}
	for _, module := range info.Deps {
		path, moduleVersion, sum := module.Path, module.Version, module.Sum
		if module.Replace != nil {
			path, moduleVersion, sum = module.Replace.Path, module.Replace.Version, module.Replace.Sum
		}
		one := component(cyclonedx.ComponentTypeLibrary, path, moduleVersion)
		one.Properties = &[]cyclonedx.Property{{Name: "golang:h1", Value: sum}}
		components = append(components, one)
		dependencies = append(dependencies, one.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: subject.BOMRef, Dependencies: &dependencies}}
	var content bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("what %s is made of: %w", program.name, err)
	}
	return content.Bytes(), nil
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
