// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// evidence holds the places where rules are implemented and tested.
type evidence struct {
	// code by rule ID: file and symbol.
	code map[string][]place
	// tests by rule ID: file and name of the test.
	tests map[string][]place
}

// place is a symbol or a test in a file.
type place struct {
	path, name string
}

var (
	markerPattern = regexp.MustCompile(`^//\s*contract:(\S+)$`)
	skipped       = []string{".git", "bin", "out", "testdata", "vendor"}
)

// scan looks for rules in all Go files under root.
func scan(root string) (evidence, error) {
	found := evidence{code: map[string][]place{}, tests: map[string][]place{}}
	var problems []error
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file, err := parseFile(path, filepath.ToSlash(relative), nil)
		if err != nil {
			return err
		}
		problems = append(problems, found.add(file))
		return nil
	})
	if err != nil {
		return evidence{}, fmt.Errorf("reading the sources: %w", err)
	}
	found.sort()
	return found, errors.Join(problems...)
}

// source is a parsed file.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
}

// parseFile parses the file at path, or the given content, and records its name in the repository.
func parseFile(path, name string, content any) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, fmt.Errorf("reading %s: %w", name, err)
	}
	return source{path: name, fset: fset, file: file}, nil
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// mention is a rule that a file names.
type mention struct {
	id    string
	place place
	line  int
}

// add records what a file mentions, and returns an error for each name that is not a rule.
func (e evidence) add(s source) error {
	mentions, problems := s.markers()
	target := e.code
	if s.isTest() {
		target = e.tests
		labels, more := s.labels()
		mentions = append(mentions, labels...)
		problems = append(problems, more...)
	}
	known := ruleIDs()
	for _, m := range mentions {
		if !known[m.id] {
			problems = append(problems, fmt.Errorf("%s:%d: %q is not a rule of a contract; hack/contract/rules.go lists the rules", s.path, m.line, m.id))
			continue
		}
		if !slices.Contains(target[m.id], m.place) {
			target[m.id] = append(target[m.id], m.place)
		}
	}
	return errors.Join(problems...)
}

func (e evidence) sort() {
	for _, places := range []map[string][]place{e.code, e.tests} {
		for _, list := range places {
			slices.SortFunc(list, func(a, b place) int {
				return strings.Compare(a.path+"\x00"+a.name, b.path+"\x00"+b.name)
			})
		}
	}
}

// markers returns the rules that comments name.
func (s source) markers() ([]mention, []error) {
	var mentions []mention
	var problems []error
	for _, group := range s.file.Comments {
		for _, comment := range group.List {
			found := markerPattern.FindStringSubmatch(comment.Text)
			if found == nil {
				continue
			}
			line := s.fset.Position(comment.Pos()).Line
			symbol, ok := symbolOf(s.file, comment)
			if !ok {
				problems = append(problems, fmt.Errorf("%s:%d: the marker of %q belongs to no declaration", s.path, line, found[1]))
				continue
			}
			mentions = append(mentions, mention{id: found[1], place: place{path: s.path, name: symbol}, line: line})
		}
	}
	return mentions, problems
}
