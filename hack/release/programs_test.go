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
	"os"
	"path/filepath"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/gomega"
)

// Any program of Go can stand for those of a release: here it is this test.
func programsFolder(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(self)
	g.Expect(err).NotTo(HaveOccurred())
	folder := t.TempDir()
	for _, architecture := range architectures {
		for _, program := range imaged {
			path := filepath.Join(folder, architecture, program)
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		}
	}
	return folder
}

func TestReleaseWithImages(t *testing.T) {
	g := NewWithT(t)
	folder := programsFolder(t)
	first, second := t.TempDir(), t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: first, programs: folder})).To(Succeed())
	g.Expect(run(release{sources: sources, version: version, output: second, programs: folder})).To(Succeed())
	one, other := contents(g, first), contents(g, second)
	for _, name := range []string{"images/manager-v0.1.0.tar", "sbom/manager-v0.1.0-amd64.cdx.json", "sbom/manager-v0.1.0-arm64.cdx.json",
		"images/runtime-extension-v0.1.0.tar", "sbom/runtime-extension-v0.1.0-amd64.cdx.json"} {
		g.Expect(one).To(HaveKey(name))
		g.Expect(bytes.Equal(one[name], other[name])).To(BeTrue(), name)
		g.Expect(string(one[sumsFile])).To(ContainSubstring(name))
	}

	bom := cyclonedx.NewBOM()
	decoder := cyclonedx.NewBOMDecoder(bytes.NewReader(one["sbom/manager-v0.1.0-amd64.cdx.json"]), cyclonedx.BOMFileFormatJSON)
	g.Expect(decoder.Decode(bom)).To(Succeed())
	g.Expect(bom.Metadata.Component.PackageURL).To(Equal("pkg:golang/github.com/capfoo/cluster-api-provider-foo@" + version))
	g.Expect(bom.Metadata.Timestamp).To(BeEmpty())
	g.Expect(*bom.Components).To(ContainElements(HaveField("Name", "stdlib"), HaveField("Name", "sigs.k8s.io/cluster-api")))

	g.Expect(run(release{sources: sources, version: version, output: first})).To(Succeed())
	g.Expect(contents(g, first)).NotTo(HaveKey("images/manager-v0.1.0.tar"), "an image of other sources")
}

func TestProgramsMustBeBuilt(t *testing.T) {
	g := NewWithT(t)
	output := filepath.Join(t.TempDir(), "out")
	g.Expect(run(release{sources: sources, version: version, output: output, programs: t.TempDir()})).To(MatchError(ContainSubstring("make release builds it")))
	g.Expect(output).NotTo(BeADirectory())
}
