// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

const version = "v0.1.0"

func decodeBill(g *WithT, content []byte) *cyclonedx.BOM {
	bom := cyclonedx.NewBOM()
	g.Expect(cyclonedx.NewBOMDecoder(bytes.NewReader(content), cyclonedx.BOMFileFormatJSON).Decode(bom)).To(Succeed())
	g.Expect(bom.Metadata.Timestamp).To(BeEmpty())
	return bom
}

// built returns a program.
func built(t *testing.T, of string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	said, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, of).CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(said))
	return path
}

func TestBillOfProgram(t *testing.T) {
	g := NewWithT(t)
	content, err := NewRelease(version, "example.com/").Program(built(t, "../../hack/release"))
	g.Expect(err).NotTo(HaveOccurred())
	bom := decodeBill(g, content)
	g.Expect(bom.Metadata.Component.PackageURL).To(Equal("pkg:golang/github.com/capfoo/cluster-api-provider-foo@" + version))
	g.Expect(*bom.Metadata.Component).To(haveLicense("Apache-2.0"))
	g.Expect(*bom.Components).To(ContainElements(
		And(HaveField("Name", "stdlib"), haveLicense("BSD-3-Clause")), And(HaveField("Name", "golang.org/x/mod"), haveLicense("BSD-3-Clause")),
		And(HaveField("Name", "github.com/CycloneDX/cyclonedx-go"), haveLicense("Apache-2.0")),
		And(HaveField("Name", "github.com/blang/semver/v4"), haveLicense("MIT"))))
	g.Expect(*bom.Components).To(HaveEach(HaveField("Licenses", Not(BeNil()))))
}

// haveLicense matches a component with one license.
func haveLicense(id string) types.GomegaMatcher {
	return HaveField("Licenses", HaveValue(Equal(cyclonedx.Licenses{{License: &cyclonedx.License{ID: id}}})))
}

func TestUnknownLicense(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "LICENSE"), []byte("Ask me."), 0o600)).To(Succeed())
	found, err := readFolder(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(license{names: []string{"see the sources"}, text: "Ask me.\n"}))
	one := found.of(cyclonedx.Component{PackageURL: "pkg:golang/example.com/asking@v1.0.0"})
	g.Expect(*one.Licenses).To(Equal(cyclonedx.Licenses{{License: &cyclonedx.License{Name: "see the sources"}}}), "it is no SPDX identifier")
	_, err = licenses{}.ofModule("example.com/Gone", "v1.0.0")
	g.Expect(err).To(MatchError(ContainSubstring("find the license of example.com/Gone@v1.0.0")))
}

// etcd and kubectl are programs of their own modules, which a release does not rename.
func TestBillOfSomebodyElsesProgram(t *testing.T) {
	g := NewWithT(t)
	path := built(t, "golang.org/x/mod/gosumcheck")
	info, err := buildinfo.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	content, err := NewRelease(version, "example.com/").Program(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(decodeBill(g, content).Metadata.Component.PackageURL).To(Equal("pkg:golang/golang.org/x/mod@" + info.Main.Version))
}
