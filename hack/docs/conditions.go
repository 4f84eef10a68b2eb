// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/doc"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// conditionPart is a package of the API with conditions.
type conditionPart struct {
	Title, folder string
	Groups        []conditionGroup
}

// conditionGroup is a block of constants: a condition with its reasons.
type conditionGroup struct {
	Title  string
	Values []conditionValue
}

// conditionValue is a type of a condition, or a reason.
type conditionValue struct {
	Kind, Value, Meaning string
}

// conditionsPage returns the page with all conditions and reasons.
func conditionsPage(root string) ([]byte, error) {
	parts := []conditionPart{
		{Title: "FooControlPlane", folder: "./api/controlplane/v1beta2"}, {Title: "Infrastructure", folder: "./api/infrastructure/v1beta2"},
		{Title: "Runtime extension", folder: "./api/extension/v1alpha1"},
	}
	for i := range parts {
		if err := parts[i].load(root); err != nil {
			return nil, fmt.Errorf("%s: %w", parts[i].folder, err)
		}
	}
	return render("conditions", parts)
}

func (p *conditionPart) load(root string) error {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports, Dir: root,
	}, p.folder)
	if err != nil {
		return err
	}
	for _, pkg := range loaded {
		for _, problem := range pkg.Errors {
			return problem
		}
		documented, err := doc.NewFromFiles(pkg.Fset, pkg.Syntax, pkg.PkgPath)
		if err != nil {
			return err
		}
		for _, block := range documented.Consts {
			group, err := conditionsIn(pkg.TypesInfo, block)
			if err != nil {
				return err
			}
			if len(group.Values) > 0 {
				p.Groups = append(p.Groups, group)
			}
		}
	}
	return nil
}

// conditionsIn returns the conditions and reasons in a block of constants.
func conditionsIn(info *types.Info, block *doc.Value) (conditionGroup, error) {
	group := conditionGroup{Title: title(block.Doc)}
	for _, spec := range block.Decl.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || conditionKind(value.Names[0].Name) == "" {
			continue
		}
		described, err := describe(info, value)
		if err == nil && group.Title == "" {
			err = errors.New("its block has no comment")
		}
		if err != nil {
			return group, fmt.Errorf("%s: %w", value.Names[0].Name, err)
		}
		group.Values = append(group.Values, described)
	}
	return group, nil
}

// describe returns what the comment of a constant says about its value.
func describe(info *types.Info, value *ast.ValueSpec) (conditionValue, error) {
	name := value.Names[0]
	meaning, found := strings.CutPrefix(strings.Join(strings.Fields(value.Doc.Text()), " "), name.Name+" ")
	object, isConstant := info.Defs[name].(*types.Const)
	if !found || !isConstant {
		return conditionValue{}, errors.New("want a constant with a comment that begins with its name")
	}
	return conditionValue{conditionKind(name.Name), constant.StringVal(object.Val()), sentence(meaning)}, nil
}

// conditionKind says what a constant is: a condition, a reason, or neither.
func conditionKind(name string) string {
	switch {
	case !token.IsExported(name):
		return ""
	case strings.HasSuffix(name, "Condition"):
		return "condition"
	case strings.HasSuffix(name, "Reason"):
		return "reason"
	}
	return ""
}

// title returns the first sentence of a comment without the words that all of them have.
func title(comment string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(comment), " "), ".")
	first, _, _ = strings.Cut(first, ", besides")
	for _, ending := range []string{" and its reasons", " and their reasons"} {
		first = strings.TrimSuffix(first, ending)
	}
	return first
}

// sentence drops the words that the comments of many values begin with.
func sentence(meaning string) string {
	for _, prefix := range []string{"says that ", "is the reason of ", "is the reason if ", "is "} {
		if rest, found := strings.CutPrefix(meaning, prefix); found {
			meaning = rest
			break
		}
	}
	return strings.ToUpper(meaning[:1]) + meaning[1:]
}
