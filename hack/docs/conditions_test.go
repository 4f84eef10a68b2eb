// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	. "github.com/onsi/gomega"
)

// conditionsOf reads the blocks of constants of a file.
func conditionsOf(t *testing.T, source string) ([]conditionGroup, error) {
	t.Helper()
	g := NewWithT(t)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "a.go", "package a\n\n"+source, parser.ParseComments)
	g.Expect(err).NotTo(HaveOccurred())
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	_, err = (&types.Config{}).Check("a", files, []*ast.File{file}, info)
	g.Expect(err).NotTo(HaveOccurred())
	return conditionsIn(info, file.Decls)
}

func TestConditionsIn(t *testing.T) {
	g := NewWithT(t)
	groups, err := conditionsOf(t, "// Thing's Ready condition and its reasons, besides others. They are rare.\nconst (\n"+
		"\t// ReadyCondition is true if all\n\t// is ready.\n\tReadyCondition = \"Ready\"\n"+
		"\t// BadReason says that one is not.\n\tBadReason = \"Not\" + ReadyCondition\n\tOther = 1\n)\n\nconst hiddenReason = \"\"\n\nvar OtherReason = \"\"\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(groups).To(Equal([]conditionGroup{{Title: "Thing's Ready condition", Values: []conditionValue{
		{"condition", "Ready", "True if all is ready."}, {"reason", "NotReady", "One is not."},
	}}}))
	for _, source := range []string{
		"// Thing.\nconst (\n\tBadReason = \"Bad\"\n)", "// Thing.\nconst (\n\t// It is bad.\n\tBadReason = \"Bad\"\n)",
		"const (\n\t// BadReason says that it is.\n\tBadReason = \"Bad\"\n)",
	} {
		_, err := conditionsOf(t, source)
		g.Expect(err).To(MatchError("BadReason: want a comment that begins with its name, and a comment of its block"))
	}
}
