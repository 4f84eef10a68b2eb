// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package compatibility

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	// releases is the folder of earlier releases, each in a folder named after its version.
	releases = "../e2e/testdata/releases"
	// crds is the folder of the sources' CRDs.
	crds = "../../config/crd/*/bases"
)

// kept returns the folders of the releases.
func kept(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	folders, err := filepath.Glob(filepath.Join(releases, "v*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(folders).NotTo(BeEmpty())
	return folders
}

// definitions reads the CRDs in the files that match a pattern, by name.
func definitions(t *testing.T, pattern ...string) map[string]object {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(pattern...))
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]object{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			g.Expect(err).NotTo(HaveOccurred())
			crd := object{}
			g.Expect(yaml.Unmarshal(document, &crd)).To(Succeed(), file)
			if crd["kind"] == "CustomResourceDefinition" {
				found[fmt.Sprint(objectOf(crd["metadata"])["name"])] = crd
			}
		}
	}
	g.Expect(found).NotTo(BeEmpty(), "CRDs in %v", pattern)
	return found
}

// A failure shows what a change of the API takes from users of a release. Add a field or a version
// instead.
func TestCRDsBreakNoRelease(t *testing.T) {
	now := definitions(t, crds, "*.yaml")
	for _, release := range kept(t) {
		for name, before := range definitions(t, release, "*", "*", "*-components.yaml") {
			t.Run(filepath.Base(release)+" "+name, func(t *testing.T) {
				g := NewWithT(t)
				g.Expect(now).To(HaveKey(name), "the kind is gone")
				g.Expect(Compare(before, now[name])).To(BeEmpty())
			})
		}
	}
}

// In a real CRD, the loss of any field is detected at any depth.
func TestEveryFieldIsLookedAt(t *testing.T) {
	g := NewWithT(t)
	const name = "foomachinepools.infrastructure.cluster.x-k8s.io"
	before, now := definitions(t, crds, "*foomachinepools.yaml")[name], definitions(t, crds, "*foomachinepools.yaml")[name]
	looked := 0
	for _, version := range listOf(objectOf(now["spec"])["versions"]) {
		eachField(fmt.Sprint(objectOf(version)["name"])+":", schemaOf(objectOf(version)), func(where string, fields object, name string) {
			lost := fields[name]
			delete(fields, name)
			g.Expect(Compare(before, now)).To(Equal([]string{where + " is gone"}))
			fields[name] = lost
			looked++
		})
	}
	g.Expect(looked).To(BeNumerically(">", 50))
}

// eachField visits all fields below a schema, with the map that holds each.
func eachField(where string, schema object, visit func(where string, fields object, name string)) {
	fields := objectOf(schema["properties"])
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		visit(field(where, name), fields, name)
		eachField(field(where, name), objectOf(fields[name]), visit)
	}
	for elements, keyword := range map[string]string{"[]": "items", "{}": "additionalProperties"} {
		if inner := objectOf(schema[keyword]); inner != nil {
			eachField(where+elements, inner, visit)
		}
	}
}

// A release that was edited to match later sources would prove nothing.
func TestReleasesAreAsTheyWerePublished(t *testing.T) {
	for _, release := range kept(t) {
		g := NewWithT(t)
		sums, err := os.ReadFile(filepath.Join(release, "SHA256SUMS"))
		g.Expect(err).NotTo(HaveOccurred())
		var listed []string
		for line := range strings.Lines(string(sums)) {
			sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
			g.Expect(ok).To(BeTrue(), line)
			content, err := os.ReadFile(filepath.Join(release, filepath.FromSlash(name)))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fmt.Sprintf("%x", sha256.Sum256(content))).To(Equal(sum), "%s has been changed", name)
			listed = append(listed, filepath.Join(release, filepath.FromSlash(name)))
		}
		files, err := filepath.Glob(filepath.Join(release, "*", "*", "*"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(files).To(ConsistOf(listed))
	}
}
