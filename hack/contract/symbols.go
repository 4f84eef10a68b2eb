// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "go/ast"

// symbolOf returns the name of the declaration or struct field that a comment documents or is
// inside of.
func symbolOf(file *ast.File, comment *ast.Comment) (string, bool) {
	if covers(file.Doc, comment) {
		return "package " + file.Name.Name, true
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if covers(d, comment) || covers(d.Doc, comment) {
				return funcName(d), true
			}
		case *ast.GenDecl:
			if covers(d, comment) || covers(d.Doc, comment) || trails(d, comment) {
				return specName(d, comment), true
			}
		}
	}
	return "", false
}

// covers reports whether the comment is inside the node. A doc comment is outside the node that it
// documents.
func covers(node ast.Node, comment *ast.Comment) bool {
	if group, ok := node.(*ast.CommentGroup); ok && group == nil {
		return false
	}
	return node.Pos() <= comment.Pos() && comment.End() <= node.End()
}

// trails reports whether the comment follows one of the declared names.
func trails(declaration *ast.GenDecl, comment *ast.Comment) bool {
	for _, spec := range declaration.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if covers(s.Comment, comment) {
				return true
			}
		case *ast.ValueSpec:
			if covers(s.Comment, comment) {
				return true
			}
		}
	}
	return false
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if index, ok := receiver.(*ast.IndexExpr); ok {
		receiver = index.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// specName returns the name of the type, constant, variable or struct field in the declaration that
// the comment is about, or the first name if the comment is about the whole declaration.
func specName(declaration *ast.GenDecl, comment *ast.Comment) string {
	first := ""
	for _, spec := range declaration.Specs {
		name, doc, trailing := describe(spec)
		if first == "" {
			first = name
		}
		if !covers(spec, comment) && !covers(doc, comment) && !covers(trailing, comment) {
			continue
		}
		if field, ok := fieldName(spec, comment); ok {
			return name + "." + field
		}
		return name
	}
	return first
}

func describe(spec ast.Spec) (name string, doc, trailing *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name, s.Doc, s.Comment
	case *ast.ValueSpec:
		return s.Names[0].Name, s.Doc, s.Comment
	case *ast.ImportSpec:
		return "import " + s.Path.Value, s.Doc, s.Comment
	default:
		return "", nil, nil
	}
}

func fieldName(spec ast.Spec, comment *ast.Comment) (string, bool) {
	typeSpec, ok := spec.(*ast.TypeSpec)
	if !ok {
		return "", false
	}
	structure, ok := typeSpec.Type.(*ast.StructType)
	if !ok {
		return "", false
	}
	for _, field := range structure.Fields.List {
		if len(field.Names) > 0 && (covers(field, comment) || covers(field.Doc, comment) || covers(field.Comment, comment)) {
			return field.Names[0].Name, true
		}
	}
	return "", false
}
