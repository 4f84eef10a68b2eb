// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
)

// conditionGroup is a block of constants: the type of a condition, and its reasons.
type conditionGroup struct {
	Title  string
	Values []conditionValue
}

type conditionValue struct{ Kind, Value, Meaning string }

var (
	conditionName = regexp.MustCompile(`^[A-Z].*(Condition|Reason)$`)
	// The comments of all blocks end like this, and those of many values begin like this.
	blockEnding    = regexp.MustCompile(`( and (its|their) reasons)?(, besides.*)?\..*$`)
	valueBeginning = regexp.MustCompile(`^(says that|is the reason of|is the reason if|is) `)
)

// conditions returns the conditions and reasons of a package of the API.
func conditions(folder string) ([]conditionGroup, error) {
	mode := packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports
	loaded, err := packages.Load(&packages.Config{Mode: mode}, "./api/"+folder)
	if err != nil {
		return nil, err
	}
	for _, problem := range loaded[0].Errors {
		return nil, problem
	}
	var declarations []ast.Decl
	for _, file := range loaded[0].Syntax {
		declarations = append(declarations, file.Decls...)
	}
	return conditionsIn(loaded[0].TypesInfo, declarations)
}

// conditionsIn returns the conditions and reasons in each block of constants.
func conditionsIn(info *types.Info, declarations []ast.Decl) ([]conditionGroup, error) {
	var groups []conditionGroup
	for _, declaration := range declarations {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		group := conditionGroup{Title: blockEnding.ReplaceAllString(words(block.Doc), "")}
		for _, spec := range block.Specs {
			value := spec.(*ast.ValueSpec)
			name := value.Names[0]
			kind := conditionName.FindStringSubmatch(name.Name)
			if kind == nil {
				continue
			}
			meaning, found := strings.CutPrefix(words(value.Doc), name.Name+" ")
			if !found || group.Title == "" {
				return nil, errors.New(name.Name + ": want a comment that begins with its name, and a comment of its block")
			}
			meaning = valueBeginning.ReplaceAllString(meaning, "")
			said := constant.StringVal(info.Defs[name].(*types.Const).Val())
			group.Values = append(group.Values, conditionValue{strings.ToLower(kind[1]), said, strings.ToUpper(meaning[:1]) + meaning[1:]})
		}
		if len(group.Values) > 0 {
			groups = append(groups, group)
		}
	}
	return groups, nil
}

func words(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}
