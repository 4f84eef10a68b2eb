// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	. "github.com/onsi/gomega"
)

// conditionsOf reads a block of constants.
func conditionsOf(t *testing.T, source string) (conditionGroup, error) {
	t.Helper()
	g := NewWithT(t)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "a.go", "package a\n\n"+source, parser.ParseComments)
	g.Expect(err).NotTo(HaveOccurred())
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	_, err = (&types.Config{}).Check("a", files, []*ast.File{file}, info)
	g.Expect(err).NotTo(HaveOccurred())
	block := file.Decls[0].(*ast.GenDecl)
	return conditionsIn(info, &doc.Value{Doc: block.Doc.Text(), Decl: block})
}

func TestConditionsIn(t *testing.T) {
	g := NewWithT(t)
	group, err := conditionsOf(t, "// Thing's Ready condition and its reasons, besides others.\nconst (\n"+
		"\t// ReadyCondition is true if all\n\t// is ready.\n\tReadyCondition = \"Ready\"\n"+
		"\t// BadReason says that one is not.\n\tBadReason = \"Not\" + ReadyCondition\n\tOther = 1\n)")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(group).To(Equal(conditionGroup{Title: "Thing's Ready condition", Values: []conditionValue{
		{"condition", "Ready", "True if all is ready."}, {"reason", "NotReady", "One is not."},
	}}))
	for source, want := range map[string]string{
		"// Thing.\nconst (\n\tBadReason = \"Bad\"\n)":                       "BadReason: want a constant with a comment",
		"const (\n\t// BadReason says that it is.\n\tBadReason = \"Bad\"\n)": "BadReason: its block has no comment",
	} {
		_, err := conditionsOf(t, source)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
