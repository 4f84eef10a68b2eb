// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"slices"
	"strings"
)

var componentChecks = map[string]releaseCheck{
	"validYAML":          problemsOf(Components, Metadata),
	"componentVariables": variablesOf(Components),
	"duplicates":         checkDuplicates,
	"oneNamespace":       checkOneNamespace,
	"hasNamespace":       checkHasNamespace,
	"targetNamespace":    checkTargetNamespace,
	"bindingSubjects":    eachBinding(checkBindingSubjects),
	"roleRefs":           eachBinding(checkRoleRef),
	"deployment":         checkDeployment,
	"managerContainer":   each("Deployment", checkManagerContainer),
	"allNamespaces":      each("Deployment", checkAllNamespaces),
	"serviceAccount":     eachThat("Deployment", inComponents, checkServiceAccount),
	"imageName":          each("Deployment", checkImageName),
	"imageTag":           each("Deployment", checkImageTag),
	"variablesPrefix":    checkVariablesPrefix,
	"providerLabel":      checkProviderLabel,
	"providerLabelValue": checkProviderLabelValue,
	"globalMove":         checkGlobalMove,
}

// each applies a check to the components of a kind.
func each(kind string, check func(*Release, Object) []string) releaseCheck {
	return eachThat(kind, func(*Release, Object) bool { return true }, check)
}

// eachThat is like each, but leaves out the components that the check is not about.
func eachThat(kind string, about func(*Release, Object) bool, check func(*Release, Object) []string) releaseCheck {
	return func(r *Release) []subject {
		var subjects []subject
		for _, object := range r.objects(kind) {
			if about(r, object) {
				subjects = append(subjects, of(object, check(r, object)...))
			}
		}
		return subjects
	}
}

// inComponents reports whether an object is from components, which have what it refers to. Of a management
// cluster, only some kinds are read.
func inComponents(r *Release, _ Object) bool { return !r.Cluster }

// problemsOf reports what cannot be parsed in files of the types.
func problemsOf(types ...FileType) releaseCheck {
	return eachFile(types, func(f *File) []subject {
		subjects := []subject{of(f.object())}
		for _, problem := range f.problems {
			subjects = append(subjects, of(Object{File: f, Line: problem.line}, problem.message))
		}
		for _, object := range f.Objects {
			if object.GetName() == "" && f.Type != Metadata {
				subjects = append(subjects, of(object, "has no metadata.name"))
			}
		}
		return subjects
	})
}

// variablesOf reports variables that clusterctl cannot substitute in files of the types.
func variablesOf(types ...FileType) releaseCheck {
	return eachFile(types, func(f *File) []subject {
		if f.variables != nil {
			return []subject{of(f.object(), f.variables.Error()+"; allowed are ${VAR} and ${VAR:=default}")}
		}
		return []subject{of(f.object())}
	})
}

// eachFile applies a check to the files of the types. A management cluster has objects, and no files.
func eachFile(types []FileType, check func(*File) []subject) releaseCheck {
	return func(r *Release) []subject {
		if r.Cluster {
			return nil
		}
		var subjects []subject
		for _, file := range r.Files {
			if slices.Contains(types, file.Type) {
				subjects = append(subjects, check(file)...)
			}
		}
		return subjects
	}
}

// components returns all objects of the components.
func (r *Release) components() []Object {
	var objects []Object
	for _, file := range r.of(Components) {
		objects = append(objects, file.Objects...)
	}
	return objects
}

func checkDuplicates(r *Release) []subject {
	if r.Cluster { // it cannot have any
		return nil
	}
	var subjects []subject
	seen := map[string]bool{}
	for _, object := range r.components() {
		key := strings.Join([]string{strings.Split(object.GetAPIVersion(), "/")[0], object.GetKind(), object.GetNamespace(), object.GetName()}, "/")
		if seen[key] {
			subjects = append(subjects, of(object, "is there twice"))
		} else {
			subjects = append(subjects, of(object))
		}
		seen[key] = true
	}
	return subjects
}

// installable reports whether the release has what clusterctl installs, and not only CRDs.
func (r *Release) installable() bool {
	return !r.Cluster && len(r.objects("Deployment"))+len(r.objects("ServiceAccount")) > 0
}

func checkOneNamespace(r *Release) []subject {
	if !r.installable() {
		return nil
	}
	namespaces := r.objects("Namespace")
	if len(namespaces) < 2 {
		return []subject{of(r.folder())}
	}
	return []subject{of(namespaces[1], fmt.Sprintf("is Namespace 2 of %d; clusterctl allows 1", len(namespaces)))}
}

func checkHasNamespace(r *Release) []subject {
	if !r.installable() {
		return nil
	}
	if len(r.objects("Namespace")) > 0 {
		return []subject{of(r.folder())}
	}
	return []subject{of(r.of(Components)[0].object(), "the components have no Namespace")}
}

func checkTargetNamespace(r *Release) []subject {
	target := r.namespace()
	if target == "" || !r.installable() {
		return nil
	}
	var subjects []subject
	for _, object := range r.components() {
		namespace := object.GetNamespace()
		if namespace == "" {
			continue
		}
		if namespace != target {
			subjects = append(subjects, of(object, fmt.Sprintf("is in the namespace %s, want %s", namespace, target)))
		} else {
			subjects = append(subjects, of(object))
		}
	}
	return subjects
}

func eachBinding(check func(*Release, Object) []string) releaseCheck {
	return func(r *Release) []subject {
		return append(each("ClusterRoleBinding", check)(r), each("RoleBinding", check)(r)...)
	}
}

// checkBindingSubjects looks for ServiceAccounts in the target namespace: clusterctl replaces the namespace of
// each subject that has one.
func checkBindingSubjects(r *Release, binding Object) []string {
	if r.Cluster {
		return nil
	}
	target := r.namespace()
	var messages []string
	for _, s := range binding.objects("subjects") {
		name, _ := s["name"].(string)
		namespace, _ := s["namespace"].(string)
		if s["kind"] != "ServiceAccount" || (namespace != "" || target == "") && r.object("ServiceAccount", target, name) != nil {
			continue
		}
		messages = append(messages, fmt.Sprintf("names the ServiceAccount %s/%s, and the components have no %s/%s", namespace, name, target, name))
	}
	return messages
}

// builtInRoles are roles that every cluster has.
var builtInRoles = []string{"cluster-admin", "admin", "edit", "view"}

func checkRoleRef(r *Release, binding Object) []string {
	kind, name := binding.string("roleRef", "kind"), binding.string("roleRef", "name")
	namespace := ""
	if kind == "Role" {
		namespace = binding.GetNamespace()
	}
	// clusterctl moves bindings to the target namespace, so they cannot use Roles that other namespaces have.
	builtIn := kind == "ClusterRole" && (strings.HasPrefix(name, "system:") || slices.Contains(builtInRoles, name))
	if r.Cluster || builtIn || r.object(kind, namespace, name) != nil {
		return nil
	}
	return []string{fmt.Sprintf("names the %s %s, which the components do not have", kind, name)}
}

func checkDeployment(r *Release) []subject {
	if !r.installable() {
		return nil
	}
	if deployments := r.objects("Deployment"); len(deployments) > 0 {
		return []subject{of(deployments[0])}
	}
	return []subject{of(r.of(Components)[0].object(), "the components have no Deployment")}
}

func containers(deployment Object) []map[string]any {
	return deployment.objects("spec", "template", "spec", "containers")
}

func checkManagerContainer(r *Release, deployment Object) []string {
	all := containers(deployment)
	names := make([]string, 0, len(all))
	for _, container := range all {
		name, _ := container["name"].(string)
		names = append(names, name)
	}
	if slices.Contains(names, "manager") || r.secondary(deployment) {
		return nil
	}
	return []string{fmt.Sprintf("has the containers %s; want one that is named manager", strings.Join(names, ", "))}
}

// secondary reports whether another Deployment of the release has the manager, so that this one
// runs something beside it.
func (r *Release) secondary(deployment Object) bool {
	for _, other := range r.objects("Deployment") {
		if other.GetName() == deployment.GetName() {
			continue
		}
		if slices.ContainsFunc(containers(other), func(c map[string]any) bool { return c["name"] == "manager" }) {
			return true
		}
	}
	return false
}

func checkAllNamespaces(_ *Release, deployment Object) []string {
	var messages []string
	for _, container := range containers(deployment) {
		command, _ := container["command"].([]any)
		args, _ := container["args"].([]any)
		words := slices.Concat(command, args)
		for i, word := range words {
			text, _ := word.(string)
			value, found := strings.CutPrefix(text, "--namespace=")
			if text == "--namespace" && i+1 < len(words) {
				value, _ = words[i+1].(string)
				found = true
			}
			if found && value != "" {
				messages = append(messages, fmt.Sprintf("watches only the namespace %q; clusterctl always installs providers that watch all", value))
			}
		}
	}
	return messages
}

func checkServiceAccount(r *Release, deployment Object) []string {
	name := accountOf(deployment)
	if name == defaultAccount || r.object("ServiceAccount", deployment.GetNamespace(), name) != nil {
		return nil
	}
	return []string{fmt.Sprintf("uses the ServiceAccount %s, which the components do not have", name)}
}

func eachImage(deployment Object, check func(image string) string) []string {
	var messages []string
	for _, container := range append(containers(deployment), deployment.objects("spec", "template", "spec", "initContainers")...) {
		image, _ := container["image"].(string)
		if message := check(image); message != "" {
			messages = append(messages, message)
		}
	}
	return messages
}

func checkImageName(_ *Release, deployment Object) []string {
	return eachImage(deployment, func(image string) string {
		registry, _, found := strings.Cut(image, "/")
		if found && strings.ContainsAny(registry, ".:") || registry == "localhost" {
			return ""
		}
		return fmt.Sprintf("has the image %q without a registry", image)
	})
}

func checkImageTag(_ *Release, deployment Object) []string {
	return eachImage(deployment, func(image string) string {
		if strings.Contains(image, "@sha256:") {
			return ""
		}
		name := image[strings.LastIndex(image, "/")+1:]
		_, tag, _ := strings.Cut(name, ":")
		if tag == "" || tag == "latest" {
			return fmt.Sprintf("has the image %q without a fixed tag", image)
		}
		return ""
	})
}

// sharedVariables begin the names of variables that all providers share, and abbreviations such as
// CAPA, CABPR and CAREN.
var sharedVariables = []string{"EXP_", "CLUSTER_TOPOLOGY", "CA", "KUBEADM_"}

func checkVariablesPrefix(r *Release) []subject {
	label := r.provider()
	own := strings.ToUpper(strings.TrimPrefix(label, providerType(label)))
	if own == "" {
		return nil
	}
	allowed := slices.Concat(sharedVariables, strings.Split(own, "-"))
	var subjects []subject
	for _, file := range r.of(Components) {
		var messages []string
		for _, variable := range file.Variables {
			if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(variable.Name, prefix) }) {
				messages = append(messages, fmt.Sprintf("the variable %s does not begin with %s_", variable.Name, strings.ReplaceAll(own, "-", "_")))
			}
		}
		if len(file.Variables) > 0 {
			subjects = append(subjects, of(file.object(), messages...))
		}
	}
	return subjects
}

func checkProviderLabel(r *Release) []subject {
	if !r.installable() {
		return nil
	}
	var subjects []subject
	for _, object := range r.components() {
		// clusterctl labels the Namespace, and whoever registers an extension may do so later.
		if object.GetLabels()["cluster.x-k8s.io/provider"] == "" && object.GetKind() != "Namespace" && object.GetKind() != "ExtensionConfig" {
			subjects = append(subjects, of(object, "has no label cluster.x-k8s.io/provider"))
		} else {
			subjects = append(subjects, of(object))
		}
	}
	return subjects
}

func checkProviderLabelValue(r *Release) []subject {
	provider := r.provider()
	var subjects []subject
	reported := map[string]bool{}
	for _, object := range r.components() {
		label := object.GetLabels()["cluster.x-k8s.io/provider"]
		if reported[label] {
			continue
		}
		reported[label] = true
		switch {
		case label == "":
		case providerType(label) == "", providerType(label) == misspelt:
			subjects = append(subjects, of(object, fmt.Sprintf("label cluster.x-k8s.io/provider is %q, which has no type of provider", label)))
		case label != provider && !r.Cluster:
			subjects = append(subjects, of(object, fmt.Sprintf("label cluster.x-k8s.io/provider is %q, and other components have %q", label, provider)))
		default:
			subjects = append(subjects, of(object))
		}
	}
	return subjects
}

func checkGlobalMove(r *Release) []subject {
	var subjects []subject
	for _, crd := range r.definitions {
		if crd.Spec.Scope != "Cluster" || crd.Contract != "" || crd.Labels["cluster.x-k8s.io/provider"] == "cluster-api" {
			continue
		}
		if !strings.HasSuffix(crd.Spec.Group, "cluster.x-k8s.io") && !crd.labelled() {
			continue // not an API of a provider
		}
		_, move := crd.Labels["clusterctl.cluster.x-k8s.io/move"]
		_, hierarchy := crd.Labels["clusterctl.cluster.x-k8s.io/move-hierarchy"]
		if move || hierarchy {
			subjects = append(subjects, of(crd.Object))
		} else {
			subjects = append(subjects, of(crd.Object, "is cluster-wide and has no label clusterctl.cluster.x-k8s.io/move or move-hierarchy"))
		}
	}
	return subjects
}
