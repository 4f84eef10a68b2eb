// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// member is a JSON field of a Go type of v1beta2.
type member struct {
	owner, goType string
	// tag is the content of the JSON tag: the name, then the options.
	tag []string
	// doc is the comment with its markers. It includes the comment of the field's type if this
	// package declares the type.
	doc, typeDoc string
	isStruct     bool
}

func (m member) optional() bool          { return m.marked("optional") }
func (m member) pointer() bool           { return strings.HasPrefix(m.goType, "*") }
func (m member) option(name string) bool { return slices.Contains(m.tag[1:], name) }
func (m member) marked(marker string) bool {
	return regexp.MustCompile(`(?m)^\+` + marker + `$`).MatchString(m.doc)
}
func (m member) within(markers string) bool {
	return regexp.MustCompile(markers).MatchString(m.doc + m.typeDoc)
}

// zeroIsValid reports whether a user may want to write the zero value.
func (m member) zeroIsValid() bool {
	switch base := strings.TrimPrefix(m.goType, "*"); base {
	case "bool":
		return true
	case "int32", "int64":
		return !m.within(`Minimum=[1-9]`)
	case "intstr.IntOrString":
		return true
	default:
		return base == "string" && !m.within(`MinLength=[1-9]|Enum=`)
	}
}

// members returns all fields of a package's types.
func members(t *testing.T, folder string) []member {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(folder, "*_types.go"))
	g.Expect(err).NotTo(HaveOccurred())
	specs := map[string]*ast.TypeSpec{}
	docs := map[string]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		g.Expect(err).NotTo(HaveOccurred())
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				typeSpec := spec.(*ast.TypeSpec)
				specs[typeSpec.Name.Name], docs[typeSpec.Name.Name] = typeSpec, text(general.Doc)
			}
		}
	}
	var result []member
	for name, spec := range specs {
		if one, ok := spec.Type.(*ast.StructType); ok && !strings.HasSuffix(name, "List") {
			result = append(result, membersOf(name, one, specs, docs)...)
		}
	}
	return result
}

func membersOf(owner string, of *ast.StructType, specs map[string]*ast.TypeSpec, docs map[string]string) []member {
	var result []member
	for _, f := range of.Fields.List {
		tag := strings.Split(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		one := member{owner: owner, goType: types.ExprString(f.Type), tag: tag, doc: text(f.Doc)}
		if slices.Contains(tag, "inline") {
			continue
		}
		base := strings.TrimPrefix(one.goType, "*")
		one.isStruct = strings.Contains(base, ".") && !slices.Contains([]string{"intstr.IntOrString", "corev1.ResourceList"}, base) && !strings.HasPrefix(base, "[]")
		if spec := specs[base]; spec != nil {
			_, one.isStruct = spec.Type.(*ast.StructType)
			one.typeDoc = docs[base]
			if !one.isStruct {
				one.goType = strings.Replace(one.goType, base, types.ExprString(spec.Type), 1)
			}
		}
		result = append(result, one)
	}
	return result
}

// text returns a comment with its markers, which ast.CommentGroup.Text leaves in.
func text(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return doc.Text()
}

var jsonName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// problem returns what is wrong with a field's declaration, or an empty string.
func (m member) problem() string {
	valid := m.zeroIsValid()
	switch {
	case !jsonName.MatchString(m.tag[0]):
		return "has no JSON name in lower camel case"
	case m.optional() == m.marked("required"):
		return "needs one of the markers +optional and +required"
	case strings.HasSuffix(m.goType, "metav1.Duration"):
		return "is a duration: write a number of seconds"
	case slices.Contains([]string{"int", "int8", "int16", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}, strings.TrimPrefix(m.goType, "*")):
		return "is a number that is neither int32 nor int64"
	case m.isStruct && m.pointer():
		return "is a pointer to an object: use omitzero"
	case m.isStruct && m.optional() && m.tag[0] != "metadata" && !m.option("omitzero"):
		return "is an optional object without omitzero"
	case m.optional() && !m.option("omitempty"):
		return "is optional without omitempty"
	case m.optional() && !m.isStruct && m.pointer() && !valid:
		return "is a pointer, though zero is not valid"
	case m.optional() && valid && !m.pointer():
		return "is not a pointer, though zero is valid: zero and unset would look the same"
	case !m.optional() && m.pointer() && !valid:
		return "is required, and a pointer though zero is not valid"
	}
	return ""
}

// contracts lists the fields whose type a contract or Kubernetes itself defines: an absent selector
// differs from an empty one.
var contracts = []string{"FooControlPlaneSpec.replicas", "AllowedNamespaces.selector"}

func TestGoTypesFollowTheConventions(t *testing.T) {
	for _, group := range []string{"controlplane", "infrastructure"} {
		found := members(t, filepath.Join("..", "..", "..", "api", group, "v1beta2"))
		NewWithT(t).Expect(len(found)).To(BeNumerically(">", 20))
		for _, one := range found {
			if problem := one.problem(); problem != "" && !slices.Contains(contracts, one.owner+"."+one.tag[0]) {
				t.Errorf("%s.%s.%s %s", group, one.owner, one.tag[0], problem)
			}
		}
	}
}

// The rules themselves must find what they look for.
func TestConventionsAreChecked(t *testing.T) {
	for want, one := range map[string]member{
		"":                                  {goType: "string", tag: []string{"name", "omitempty"}, doc: "+optional\n+kubebuilder:validation:MinLength=1"},
		"has no JSON name":                  {goType: "string", tag: []string{"Name"}, doc: "+required"},
		"needs one of the markers":          {goType: "string", tag: []string{"name"}},
		"is a duration":                     {goType: "*metav1.Duration", isStruct: true, tag: []string{"name"}, doc: "+optional"},
		"is a number that is neither":       {goType: "int", tag: []string{"name"}, doc: "+optional"},
		"is a pointer to an object":         {goType: "*Thing", isStruct: true, tag: []string{"name"}, doc: "+optional"},
		"is an optional object":             {goType: "Thing", isStruct: true, tag: []string{"name", "omitempty"}, doc: "+optional"},
		"is optional without omitempty":     {goType: "*bool", tag: []string{"name"}, doc: "+optional"},
		"is a pointer, though zero":         {goType: "*int32", tag: []string{"name", "omitempty"}, doc: "+optional\n+kubebuilder:validation:Minimum=1"},
		"is not a pointer, though zero":     {goType: "bool", tag: []string{"name", "omitempty"}, doc: "+optional"},
		"is required, and a pointer though": {goType: "*string", tag: []string{"name"}, doc: "+required\n+kubebuilder:validation:MinLength=1"},
	} {
		if want == "" {
			NewWithT(t).Expect(one.problem()).To(BeEmpty())
			continue
		}
		NewWithT(t).Expect(one.problem()).To(HavePrefix(want))
	}
}
