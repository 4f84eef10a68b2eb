// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// The contracts of kinds, as in the IDs of rules.
const (
	controlPlane = "control-plane"
	cluster      = "infrastructure-cluster"
	machine      = "infrastructure-machine"
	machinePool  = "infrastructure-machinepool"
	bootstrap    = "bootstrap"
)

const contractPrefix = "cluster.x-k8s.io/"

// Release is one release of one provider: what lies in one folder of a clusterctl repository.
type Release struct {
	// Dir is the folder, as given to Load.
	Dir string
	// Repository says that the folder is in a clusterctl repository, so its name is the version.
	Repository bool
	// Folder says that it was read from a folder or OCI layout and not from a single file.
	Folder bool
	// Cluster says that the objects are from a management cluster.
	Cluster bool
	// Files are the manifests.
	Files []*File

	// kinds has the components by kind.
	kinds       map[string][]Object
	definitions []*CRD
}

// Object is an object in a file.
type Object struct {
	*unstructured.Unstructured
	File *File
	Line int
}

func (o Object) name() string {
	if o.Unstructured == nil {
		return ""
	}
	return strings.TrimSpace(o.GetKind() + " " + o.GetName())
}

func (o Object) string(fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}

func (o Object) objects(fields ...string) []map[string]any { return objectsIn(o.Object, fields...) }

// objectsIn returns the objects of a list.
func objectsIn(object map[string]any, fields ...string) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(object, fields...)
	items, _ := list.([]any)
	var objects []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// CRD is a CustomResourceDefinition with the contract that it is about.
type CRD struct {
	Object
	*apiextensionsv1.CustomResourceDefinition
	// Contract is empty for a kind that no contract is about.
	Contract string
	// Template says that it is the template of the contract's kind.
	Template bool
}

func (c *CRD) kind() string { return c.Spec.Names.Kind }

// apiVersion returns the version that Cluster API uses with a version of the contract: the newest
// that the label names.
func (c *CRD) apiVersion(contract string) string {
	return slices.MaxFunc(strings.Split(c.Labels[contractPrefix+contract], "_"), version.CompareKubeAwareVersionStrings)
}

func (c *CRD) version(name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range c.Spec.Versions {
		if c.Spec.Versions[i].Name == name {
			return &c.Spec.Versions[i]
		}
	}
	return nil
}

// storage returns the storage version, or else the last one.
func (c *CRD) storage() *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range c.Spec.Versions {
		if c.Spec.Versions[i].Storage {
			return &c.Spec.Versions[i]
		}
	}
	if len(c.Spec.Versions) == 0 {
		return nil
	}
	return &c.Spec.Versions[len(c.Spec.Versions)-1]
}

// labelled reports whether the CRD has the label of any version of the contracts.
func (c *CRD) labelled() bool {
	return slices.ContainsFunc(conformance.Versions, func(version string) bool { return c.Labels[contractPrefix+version] != "" })
}

// in returns the CRD as Cluster API sees it with a version of the contract. A CRD that claims
// another version only is not in scope. One without any label counts in the newest version that the
// release claims.
func (r *Release) in(c *CRD, contract string) (crdScope, bool) {
	scope := crdScope{release: r, crd: c, contract: contract}
	switch {
	case c.Labels[contractPrefix+contract] != "":
		scope.version = c.version(c.apiVersion(contract))
	case c.labelled(), contract != r.newest():
		return scope, false
	}
	if scope.version == nil {
		scope.version = c.storage()
	}
	return scope, scope.version != nil
}

// dropExamples removes Clusters and ClusterClasses that are not named as clusterctl wants them, unless the
// release may have templates.
func (r *Release) dropExamples() {
	if !r.mayHaveTemplates() {
		r.Files = slices.DeleteFunc(r.Files, func(f *File) bool { return f.typeOfName() == Other && (f.Type == Template || f.Type == Class) })
	}
}

// mayHaveTemplates reports whether a Cluster in the release may be a template with a wrong name. clusterctl reads
// templates only of infrastructure providers, and from where their components are.
func (r *Release) mayHaveTemplates() bool {
	components := slices.DeleteFunc(r.of(Components), func(f *File) bool { return !f.ofProvider() })
	if len(components) == 0 {
		return r.Repository || !r.Folder
	}
	return providerType(r.provider()) == "infrastructure-" || slices.ContainsFunc(components, func(f *File) bool {
		return strings.Contains(f.base(), "infrastructure") || !strings.HasSuffix(f.base(), "-components.yaml")
	})
}

// ofProvider reports whether the components belong to a provider rather than to an add-on, such as a CNI plugin.
func (f *File) ofProvider() bool {
	return f.typeOfName() == Components || f.base() == "components.yaml" || slices.ContainsFunc(f.Objects, func(o Object) bool {
		kind := o.GetKind() == "CustomResourceDefinition" && strings.HasPrefix(o.string("spec", "group"), "infrastructure.")
		return kind || o.GetLabels()["cluster.x-k8s.io/provider"] != ""
	})
}

// prepare sorts the components by kind, and reads the CRDs in parallel.
func (r *Release) prepare() {
	r.dropExamples()
	r.kinds = map[string][]Object{}
	for _, file := range r.of(Components) {
		for _, object := range file.Objects {
			r.kinds[object.GetKind()] = append(r.kinds[object.GetKind()], object)
		}
	}
	objects := r.objects("CustomResourceDefinition")
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(objects))
	errs := make([]error, len(objects))
	inParallel(len(objects), func(i int) {
		definitions[i] = &apiextensionsv1.CustomResourceDefinition{}
		errs[i] = runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, definitions[i])
	})
	for i, object := range objects {
		if errs[i] != nil {
			object.File.problem(object.Line, "CustomResourceDefinition "+object.GetName()+": "+wrongField(object, errs[i]).Error())
			continue
		}
		r.definitions = append(r.definitions, &CRD{Object: object, CustomResourceDefinition: definitions[i]})
	}
	for _, crd := range r.definitions {
		crd.Contract, crd.Template = r.contract(crd)
	}
}

// wrongField returns an error that names the field that makes a CRD invalid, if there is one.
func wrongField(object Object, err error) error {
	content, marshalErr := json.Marshal(object.Object)
	if marshalErr != nil {
		return err
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(json.Unmarshal(content, &apiextensionsv1.CustomResourceDefinition{}), &mismatch) {
		return fmt.Errorf("the field %s is a %s, want %s", mismatch.Field, mismatch.Value, mismatch.Type)
	}
	return err
}

// suffixes of kinds decide which contract a CRD is about; the first that fits counts. Cluster API
// has no list of kinds, so these are the names that its book recommends.
var suffixes = []struct{ kind, group, contract string }{
	{"ControlPlane", "", controlPlane},
	{"Config", "bootstrap.", bootstrap},
	{"BootstrapConfig", "", bootstrap},
	{"", "bootstrap.", ""},
	{"", "controlplane.", ""},
	{"MachinePool", "", machinePool},
	{"Machine", "", machine},
	{"Cluster", "", cluster},
}

// contract decides which contract a CRD is about.
func (r *Release) contract(crd *CRD) (contract string, template bool) {
	kind, template := strings.CutSuffix(crd.kind(), "Template")
	if foreign(crd) || !template && (!hasStatus(crd) || r.helper(crd)) {
		return "", false
	}
	for _, suffix := range suffixes {
		if strings.HasSuffix(kind, suffix.kind) && strings.HasPrefix(crd.Spec.Group, suffix.group) {
			return suffix.contract, template && suffix.contract != ""
		}
	}
	return "", false
}

// ofPool reports whether a pool creates the objects. Cluster API creates a Machine for each, but not the objects.
func (c *CRD) ofPool() bool { return strings.HasSuffix(c.kind(), "MachinePoolMachine") }

// foreign reports whether the CRD belongs to Cluster API itself, or to no provider of a contract.
func foreign(crd *CRD) bool {
	for _, prefix := range []string{"ipam.", "addons."} {
		if strings.HasPrefix(crd.Spec.Group, prefix) {
			return true
		}
	}
	for _, prefix := range []string{"infrastructure.", "controlplane.", "bootstrap."} {
		if strings.HasPrefix(crd.Spec.Group, prefix) {
			return false
		}
	}
	return crd.Spec.Group == core || !crd.labelled()
}

// helper reports whether a kind without a template is named after a kind with one, as
// PooledRemoteMachine is after RemoteMachine: it serves that kind, and Cluster API does not see it.
func (r *Release) helper(crd *CRD) bool {
	if r.find(crd.Spec.Group, crd.kind()+"Template") != nil {
		return false
	}
	return slices.ContainsFunc(r.definitions, func(other *CRD) bool {
		kind, template := strings.CutSuffix(other.kind(), "Template")
		return template && other.Spec.Group == crd.Spec.Group && kind != crd.kind() && strings.HasSuffix(crd.kind(), kind)
	})
}

func hasStatus(crd *CRD) bool {
	storage := crd.storage()
	if storage == nil || storage.Schema == nil || storage.Schema.OpenAPIV3Schema == nil {
		return false
	}
	_, ok := storage.Schema.OpenAPIV3Schema.Properties["status"]
	return ok
}

// crds returns the CRDs of a contract: its kinds, their templates, or all.
func (r *Release) crds(contract, target string) []*CRD {
	var crds []*CRD
	for _, crd := range r.definitions {
		if crd.Contract == contract && (target == "all" || crd.Template == (target == "template")) {
			crds = append(crds, crd)
		}
	}
	return crds
}

// find returns the CRD with the group and kind, or nil.
func (r *Release) find(group, kind string) *CRD {
	for _, crd := range r.definitions {
		if crd.Spec.Group == group && crd.kind() == kind {
			return crd
		}
	}
	return nil
}

// objects returns the components of a kind.
func (r *Release) objects(kind string) []Object { return slices.Clone(r.kinds[kind]) }

// object returns the component of a kind in a namespace, or nil.
func (r *Release) object(kind, namespace, name string) *Object {
	for _, object := range r.kinds[kind] {
		if object.GetName() == name && object.GetNamespace() == namespace {
			return &object
		}
	}
	return nil
}

// of returns the files of a type.
func (r *Release) of(fileType FileType) []*File {
	var files []*File
	for _, file := range r.Files {
		if file.Type == fileType {
			files = append(files, file)
		}
	}
	return files
}

// claims reports whether a CRD, or the newest series in the metadata, names the contract's version.
func (r *Release) claims(contract string) bool {
	for _, crd := range r.definitions {
		if crd.Labels[contractPrefix+contract] != "" {
			return true
		}
	}
	series := r.series()
	return len(series) > 0 && series[0].Contract == contract
}

// newest returns the newest version of the contracts that the release claims, or that there is.
func (r *Release) newest() string {
	for _, contract := range slices.Backward(conformance.Versions) {
		if r.claims(contract) {
			return contract
		}
	}
	return conformance.Versions[len(conformance.Versions)-1]
}

// provider returns the value of the provider's label that most components have.
func (r *Release) provider() string {
	counts := map[string]int{}
	best := ""
	for _, file := range r.of(Components) {
		for _, object := range file.Objects {
			label := object.GetLabels()["cluster.x-k8s.io/provider"]
			counts[label]++
			if label != "" && (best == "" || counts[label] > counts[best]) {
				best = label
			}
		}
	}
	return best
}

// namespace returns the target namespace: the Namespace of the release, or where most components are.
func (r *Release) namespace() string {
	if namespaces := r.objects("Namespace"); len(namespaces) > 0 {
		return namespaces[0].GetName()
	}
	counts := map[string]int{}
	for _, file := range r.of(Components) {
		for _, object := range file.Objects {
			if namespace := object.GetNamespace(); namespace != "" {
				counts[namespace]++
			}
		}
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
