// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// root is the root folder, as seen from here.
const root = "../.."

// folder returns a folder with a file of code and a test.
func folder(t *testing.T) string {
	t.Helper()
	at := t.TempDir()
	for name, content := range map[string]string{
		"a.go":      "package a\n\ntype Thing struct{ Size int }\n",
		"a_test.go": "package a\n\nvar _ = It(\"is a|b, and more\", nil)\n\nfunc TestThing() {}\n",
	} {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(at, name), []byte(content), 0o600)).To(Succeed())
	}
	return at
}

const head = "- name: things\n  page: p\n  rules:\n  - {name: size, title: Size, anchor: a, mandatory: \"yes\""

func TestContractPage(t *testing.T) {
	for name, test := range map[string]struct{ rule, want, count string }{
		"proven": {
			", code: {a.go: [Thing.Size, Thing]}, tests: {a_test.go: [TestThing, 'is a|b, and more']}}",
			"| `things/size` | yes | met | [a.go](../a.go): Thing.Size; Thing | [a_test.go](../a_test.go): TestThing; is a\\|b, and more |", "1 | 1",
		},
		"not proven": {", unproven: why, code: {a.go: [Thing]}, tests: {a_test.go: [TestThing]}}", "| **not proven**: why | [a.go]", "0 | 0"},
		"not needed": {", notNeeded: why}", "| not needed: why |  |  |", "0 | 0"},
		"untested":   {", code: {a.go: [Thing]}}", "| **missing** | [a.go](../a.go): Thing |  |", "0 | 0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			content, err := contractPage(folder(t), []byte(head+test.rule))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(content)).To(And(ContainSubstring(test.want), ContainSubstring("| [things](#things) | 1 | "+test.count+" |")))
		})
	}
}

func TestWrongNamesAreErrors(t *testing.T) {
	for name, test := range map[string]struct{ rule, want string }{
		"file":  {", code: {b.go: [Thing]}}", "things/size: open "},
		"field": {", code: {a.go: [Thing.Siz]}}", `things/size: a.go does not have "Thing.Siz"`},
		"test":  {", tests: {a_test.go: [is a]}}", ""},
		"typo":  {", tests: {a_test.go: [is not]}}", `things/size: a_test.go does not have "is not"`},
		"key":   {", test: {}}", "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := contractPage(folder(t), []byte(head+test.rule))
			if test.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
