// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// sources is the root folder, as seen from here.
const sources = "../.."

func TestTheDocumentIsCurrent(t *testing.T) {
	g := NewWithT(t)
	output := filepath.Join(t.TempDir(), "templates.md")
	g.Expect(run(filepath.Join(sources, "templates"), output)).To(Succeed())
	written, err := os.ReadFile(output)
	g.Expect(err).NotTo(HaveOccurred())
	committed, err := os.ReadFile(filepath.Join(sources, "docs/templates.md"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(committed)).To(Equal(string(written)), "run make generate")
}

func TestIncompleteDescriptionsAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ from, to, want string }{
		"a variable without a meaning": {"- name: FOO_POD_CIDR\n", "- name: FOO_PODS_CIDR\n",
			"cluster-template.yaml: the variable FOO_POD_CIDR is not in variables.yaml: document it there"},
		"a variable that no flavor has": {"- name: FOO_POD_CIDR\n", "- {name: FOO_GONE, meaning: x, allowed: y}\n- name: FOO_POD_CIDR\n",
			"variables.yaml describes [FOO_GONE], which no flavor uses: delete them"},
		"a variable without allowed values": {"- name: FOO_POD_CIDR\n", "- {name: FOO_GONE, meaning: x}\n- name: FOO_POD_CIDR\n",
			`variable "FOO_GONE": want a name, a meaning and the allowed values`},
		"a variable twice": {"- name: FOO_POD_CIDR\n", "- {name: FOO_POD_CIDR, meaning: x, allowed: y}\n- name: FOO_POD_CIDR\n",
			`variable "FOO_POD_CIDR" occurs twice`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			templates := filepath.Join(t.TempDir(), "templates")
			g.Expect(os.CopyFS(templates, os.DirFS(filepath.Join(sources, "templates")))).To(Succeed())
			file := filepath.Join(templates, variablesFile)
			content, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(content)).To(ContainSubstring(test.from))
			g.Expect(os.WriteFile(file, []byte(strings.Replace(string(content), test.from, test.to, 1)), 0o600)).To(Succeed())
			output := filepath.Join(t.TempDir(), "templates.md")
			g.Expect(run(templates, output)).To(MatchError(ContainSubstring(test.want)))
			g.Expect(output).NotTo(BeAnExistingFile())
		})
	}
}
