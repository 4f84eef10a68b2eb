// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var templateChecks = map[string]releaseCheck{
	"templateFileName":        checkTemplateFileName,
	"templateYAML":            problemsOf(Template),
	"templateVariables":       variablesOf(Template),
	"templateCluster":         eachFile([]FileType{Template}, checkTemplateCluster),
	"templateNamespace":       eachFile([]FileType{Template}, checkTemplateNamespace),
	"templateNamespaceExists": eachFile([]FileType{Template}, checkNoNamespace),
	"templateCommonVariables": eachFile([]FileType{Template}, checkCommonVariables),
	"templateReferences":      eachFile([]FileType{Template}, checkReferences),
	"templateKinds":           checkKinds(Template),
	"templateClass":           checkTemplateClass,
	"className":               eachFile([]FileType{Class}, checkClassName),
	"classYAML":               problemsOf(Class),
	"classReferences":         eachFile([]FileType{Class}, checkReferences),
	"classKinds":              checkKinds(Class),
	"classNamespaceExists":    eachFile([]FileType{Class}, checkNoNamespace),
	"classReferenceNamespace": eachFile([]FileType{Class}, checkReferenceNamespace),
	"classNamespace":          eachFile([]FileType{Class}, checkClassNamespace),
	"classShared":             checkClassShared,
	"classVariables":          eachFile([]FileType{Class}, checkClassVariables),
}

func isKind(object Object, group, kind string) bool {
	return object.GetKind() == kind && strings.HasPrefix(object.GetAPIVersion(), group+"/")
}

const core = "cluster.x-k8s.io"

func (f *File) first(kind string) *Object {
	for _, object := range f.Objects {
		if isKind(object, core, kind) {
			return &object
		}
	}
	return nil
}

func checkTemplateFileName(r *Release) []subject {
	if !r.Folder {
		return nil
	}
	var subjects []subject
	for _, file := range r.of(Template) {
		name := file.base()
		if name == "cluster-template.yaml" || strings.HasPrefix(name, "cluster-template-") && strings.HasSuffix(name, ".yaml") {
			subjects = append(subjects, of(file.object()))
		} else {
			subjects = append(subjects, of(file.object(), fmt.Sprintf("is named %s, want cluster-template.yaml or cluster-template-FLAVOR.yaml", name)))
		}
	}
	return subjects
}

// readable says whether the objects of a file can be judged.
func (f *File) readable() bool { return f.variables == nil && len(f.problems) == 0 }

func checkTemplateCluster(f *File) []subject {
	// A class may be published as a flavor.
	if !f.readable() || f.first("Cluster") != nil || f.first("ClusterClass") != nil {
		return []subject{of(f.object())}
	}
	return []subject{of(f.object(), "has no Cluster")}
}

func checkTemplateNamespace(f *File) []subject {
	subjects := []subject{of(f.object())}
	first := ""
	for _, object := range f.Objects {
		namespace := object.GetNamespace()
		switch {
		case namespace == "":
		case first == "":
			first = namespace
		case namespace != first:
			subjects = append(subjects, of(object, fmt.Sprintf("is in the namespace %s, and other objects are in %s", namespace, first)))
		}
	}
	return subjects
}

func checkNoNamespace(f *File) []subject {
	subjects := []subject{of(f.object())}
	for _, object := range f.Objects {
		if object.GetKind() == "Namespace" && object.GetAPIVersion() == "v1" {
			subjects = append(subjects, of(object, "the file creates a Namespace"))
		}
	}
	return subjects
}

func checkCommonVariables(f *File) []subject {
	want := []string{"CLUSTER_NAME", "KUBERNETES_VERSION"}
	if f.hasReplicas() {
		want = append(want, "CONTROL_PLANE_MACHINE_COUNT")
	}
	if slices.ContainsFunc(f.Objects, func(o Object) bool { return isKind(o, core, "MachineDeployment") || isKind(o, core, "MachinePool") }) {
		want = append(want, "WORKER_MACHINE_COUNT")
	}
	var missing []string
	for _, name := range want {
		if !slices.ContainsFunc(f.Variables, func(v Variable) bool { return v.Name == name }) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 || !f.readable() || f.first("Cluster") == nil {
		return []subject{of(f.object())}
	}
	return []subject{of(f.object(), "does not use "+strings.Join(missing, ", "))}
}

// hasReplicas reports whether a control plane in the file has a count.
func (f *File) hasReplicas() bool {
	return slices.ContainsFunc(f.Objects, func(o Object) bool {
		_, found, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
		return found && strings.HasSuffix(o.GetKind(), "ControlPlane")
	})
}

// reference is a field that names another object.
type reference struct {
	path, group, kind, name, namespace string
}

// referenceFields are the fields of Cluster API's kinds that name objects of the same file.
var referenceFields = []string{"infrastructureRef", "controlPlaneRef", "configRef", "ref", "templateRef"}

// references returns the references in an object of Cluster API and in control planes.
func references(object map[string]any, path string) []reference {
	var found []reference
	for name, value := range object {
		switch value := value.(type) {
		case map[string]any:
			if kind, _ := value["kind"].(string); slices.Contains(referenceFields, name) && kind != "" {
				found = append(found, newReference(value, path+"."+name))
				continue
			}
			found = append(found, references(value, path+"."+name)...)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					found = append(found, references(item, path+"."+name+"[]")...)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b reference) int { return strings.Compare(a.path+a.name, b.path+b.name) })
	return found
}

func newReference(value map[string]any, path string) reference {
	r := reference{path: strings.TrimPrefix(path, ".")}
	r.kind, _ = value["kind"].(string)
	r.name, _ = value["name"].(string)
	r.namespace, _ = value["namespace"].(string)
	r.group, _ = value["apiGroup"].(string)
	if version, ok := value["apiVersion"].(string); ok {
		r.group, _, _ = strings.Cut(version, "/")
	}
	return r
}

// referring returns the objects whose references must be in the same file.
func (f *File) referring() []Object {
	return slices.DeleteFunc(slices.Clone(f.Objects), func(o Object) bool {
		return !strings.HasPrefix(o.GetAPIVersion(), core+"/") && !strings.HasSuffix(o.GetKind(), "ControlPlane")
	})
}

func checkReferences(f *File) []subject {
	subjects := []subject{of(f.object())}
	if !f.readable() {
		return subjects
	}
	for _, object := range f.referring() {
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		for _, reference := range references(spec, "spec") {
			if !f.has(reference) {
				subjects = append(subjects, of(object, fmt.Sprintf("%s names %s %s, which the file does not have", reference.path, reference.kind, reference.name)))
			}
		}
	}
	return subjects
}

func (f *File) has(r reference) bool {
	return slices.ContainsFunc(f.Objects, func(o Object) bool {
		return o.GetKind() == r.kind && o.GetName() == r.name && (r.group == "" || strings.HasPrefix(o.GetAPIVersion(), r.group+"/"))
	})
}

// checkKinds compares the objects of files with the CRDs of the same release.
func checkKinds(fileType FileType) releaseCheck {
	return func(r *Release) []subject {
		var subjects []subject
		for _, file := range r.of(fileType) {
			for _, object := range file.Objects {
				group, version, _ := strings.Cut(object.GetAPIVersion(), "/")
				if !slices.ContainsFunc(r.definitions, func(c *CRD) bool { return c.Spec.Group == group }) {
					continue
				}
				subjects = append(subjects, of(object, kindProblem(r, group, version, object.GetKind())...))
			}
		}
		return subjects
	}
}

func kindProblem(r *Release, group, version, kind string) []string {
	crd := r.find(group, kind)
	if crd == nil && slices.Contains(managerGroups, group) {
		return nil // a group that all providers share
	}
	if crd == nil {
		return []string{fmt.Sprintf("the components have no CRD for the kind %s of %s", kind, group)}
	}
	if found := crd.version(version); found == nil || !found.Served {
		return []string{fmt.Sprintf("the components do not serve %s in the version %s", kind, version)}
	}
	return nil
}

// class returns the name of the class that a Cluster uses.
func class(object Object) string {
	if name := object.string("spec", "topology", "classRef", "name"); name != "" {
		return name
	}
	return object.string("spec", "topology", "class")
}

func checkTemplateClass(r *Release) []subject {
	if !r.Folder {
		return nil
	}
	var subjects []subject
	for _, file := range r.of(Template) {
		object := file.first("Cluster")
		if object == nil || class(*object) == "" {
			continue
		}
		name := class(*object)
		here := file.first("ClusterClass") != nil
		variable := slices.ContainsFunc(file.Variables, func(v Variable) bool { return !v.Default && madeUp(v.Name) == name })
		if here || variable || slices.ContainsFunc(r.of(Class), func(f *File) bool { c := f.first("ClusterClass"); return c != nil && c.GetName() == name }) {
			subjects = append(subjects, of(*object))
		} else {
			subjects = append(subjects, of(*object, fmt.Sprintf("uses the ClusterClass %s, and there is no clusterclass-%s.yaml", name, name)))
		}
	}
	return subjects
}

func checkClassName(f *File) []subject {
	object := f.first("ClusterClass")
	if !f.readable() {
		return nil
	}
	if object == nil {
		return []subject{of(f.object(), "has no ClusterClass")}
	}
	if want := "clusterclass-" + object.GetName() + ".yaml"; filepath.Base(f.Path) != want {
		return []subject{of(*object, fmt.Sprintf("is in the file %s, want %s", f.base(), want))}
	}
	return []subject{of(*object)}
}

func checkReferenceNamespace(f *File) []subject {
	subjects := []subject{of(f.object())}
	for _, object := range f.referring() {
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		for _, reference := range references(spec, "spec") {
			if reference.namespace != "" {
				subjects = append(subjects, of(object, fmt.Sprintf("%s has the namespace %s", reference.path, reference.namespace)))
			}
		}
	}
	return subjects
}

func checkClassNamespace(f *File) []subject {
	subjects := []subject{of(f.object())}
	for _, object := range f.Objects {
		if object.GetNamespace() != "" {
			subjects = append(subjects, of(object, fmt.Sprintf("has the namespace %s", object.GetNamespace())))
		}
	}
	return subjects
}

func checkClassShared(r *Release) []subject {
	var subjects []subject
	seen := map[string]*File{}
	for _, file := range r.of(Class) {
		for _, object := range file.Objects {
			key := object.GetAPIVersion() + "/" + object.name()
			if other := seen[key]; other != nil && other != file {
				subjects = append(subjects, of(object, fmt.Sprintf("is also in %s", other.base())))
			} else {
				subjects = append(subjects, of(object))
			}
			seen[key] = file
		}
	}
	return subjects
}

func checkClassVariables(f *File) []subject {
	var messages []string
	for _, variable := range f.Variables {
		messages = append(messages, "uses the variable "+variable.Name)
	}
	if f.variables != nil {
		messages = append(messages, f.variables.Error())
	}
	return []subject{of(f.object(), messages...)}
}
