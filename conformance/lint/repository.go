// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// releaseChecks return what a rule of clusterctl or of a runtime extension was applied to.
var releaseChecks = join(repositoryChecks, componentChecks, webhookChecks, templateChecks, extensionChecks)

type releaseCheck = func(*Release) []subject

func join(groups ...map[string]releaseCheck) map[string]releaseCheck {
	all := map[string]releaseCheck{}
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}

var repositoryChecks = map[string]releaseCheck{
	"versionFolder":        checkVersionFolder,
	"providerFolder":       checkProviderFolder,
	"hasComponents":        checkHasComponents,
	"hasTemplates":         checkHasTemplates,
	"hasMetadata":          checkHasMetadata,
	"metadataAPIVersion":   metadataField("apiVersion", "clusterctl.cluster.x-k8s.io/v1alpha3"),
	"metadataKind":         metadataField("kind", "Metadata"),
	"metadataSeries":       checkMetadataSeries,
	"metadataSeriesUnique": checkMetadataSeriesUnique,
	"metadataContract":     checkMetadataContract,
	"metadataRelease":      checkMetadataRelease,
	"componentsName":       checkComponentsName,
	"providerName":         checkProviderName,
}

// of returns a subject.
func of(object Object, messages ...string) subject {
	return subject{object: object, messages: messages}
}

// file returns the file as an object, for findings about the whole file.
func (f *File) object() Object { return Object{File: f, Line: 1} }

// folder returns the release's folder as an object.
func (r *Release) folder() Object { return Object{File: &File{Path: r.Dir}} }

func checkVersionFolder(r *Release) []subject {
	if !r.Repository {
		return nil
	}
	if isVersion(filepath.Base(r.Dir)) {
		return []subject{of(r.folder())}
	}
	return []subject{of(r.folder(), fmt.Sprintf("the folder %s is no semantic version; want for example v0.1.0", filepath.Base(r.Dir)))}
}

func checkProviderFolder(r *Release) []subject {
	if !r.Repository {
		return nil
	}
	name, label := filepath.Base(filepath.Dir(r.Dir)), r.provider()
	switch {
	case label != "" && providerType(label) != "" && name != label:
		return []subject{of(r.folder(), fmt.Sprintf("the folder %s has the provider %s; want the label as the name", name, label))}
	case providerType(name) == "":
		return []subject{of(r.folder(), fmt.Sprintf("the folder %s is no label of a provider; want for example infrastructure-%s", name, name))}
	default:
		return []subject{of(r.folder())}
	}
}

func checkHasComponents(r *Release) []subject {
	if !r.Folder || !r.Repository && len(r.of(Template)) == 0 {
		return nil
	}
	if r.hasContent(Components) {
		return []subject{of(r.folder())}
	}
	return []subject{of(r.folder(), "there are no components, such as infrastructure-components.yaml")}
}

// checkHasTemplates looks only into a repository: elsewhere, templates may be in another folder.
func checkHasTemplates(r *Release) []subject {
	const infrastructure = "infrastructure-"
	if !r.Repository || providerType(r.provider()) != infrastructure && providerType(filepath.Base(filepath.Dir(r.Dir))) != infrastructure {
		return nil
	}
	if len(r.of(Template)) > 0 {
		return []subject{of(r.folder())}
	}
	return []subject{of(r.folder(), "there is no cluster template, such as cluster-template.yaml")}
}

func checkHasMetadata(r *Release) []subject {
	named := slices.ContainsFunc(r.of(Components), func(f *File) bool { return strings.HasSuffix(f.Path, "-components.yaml") })
	if !r.Folder || !r.Repository && !named {
		return nil
	}
	if r.hasContent(Metadata) {
		return []subject{of(r.folder())}
	}
	return []subject{of(r.folder(), "there is no metadata.yaml with content")}
}

// hasContent reports whether a file of the type says anything, even if it cannot be read.
func (r *Release) hasContent(fileType FileType) bool {
	return slices.ContainsFunc(r.of(fileType), func(f *File) bool { return len(f.Objects) > 0 || !f.readable() })
}

// series is a release series of the metadata.
type series struct {
	Major, Minor int64
	Contract     string
}

func (s series) String() string { return fmt.Sprintf("%d.%d", s.Major, s.Minor) }

// metadata returns the objects of the metadata.
func (r *Release) metadata() []Object {
	var objects []Object
	for _, file := range r.of(Metadata) {
		objects = append(objects, file.Objects...)
	}
	return objects
}

func seriesIn(object Object) []series {
	entries := object.objects("releaseSeries")
	all := make([]series, 0, len(entries))
	for _, entry := range entries {
		contract, _ := entry["contract"].(string)
		all = append(all, series{number(entry["major"]), number(entry["minor"]), contract})
	}
	return all
}

// number reads a number, also one in quotes, which metadata-series reports.
func number(value any) int64 {
	switch value := value.(type) {
	case int64:
		return value
	case float64:
		return int64(value)
	case string:
		number, _ := strconv.ParseInt(value, 10, 32)
		return number
	default:
		return 0
	}
}

// series returns the release series, the newest first.
func (r *Release) series() []series {
	objects := r.metadata()
	all := make([]series, 0, len(objects))
	for _, object := range objects {
		all = append(all, seriesIn(object)...)
	}
	slices.SortStableFunc(all, func(a, b series) int {
		if a.Major != b.Major {
			return int(b.Major - a.Major)
		}
		return int(b.Minor - a.Minor)
	})
	return all
}

// current returns the series of the release: that of the folder's version, or the newest.
func (r *Release) current() *series {
	all := r.series()
	if own, err := version.ParseSemantic(filepath.Base(r.Dir)); err == nil && r.Repository {
		for _, s := range all {
			if s.Major == int64(own.Major()) && s.Minor == int64(own.Minor()) {
				return &s
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

func metadataField(field, want string) func(*Release) []subject {
	return func(r *Release) []subject {
		var subjects []subject
		for _, object := range r.metadata() {
			// Some releases have no kind, and clusterctl accepts them.
			if value := object.string(field); value != want && (value != "" || field != "kind") {
				subjects = append(subjects, of(object, fmt.Sprintf("%s is %q, want %q", field, value, want)))
			} else {
				subjects = append(subjects, of(object))
			}
		}
		return subjects
	}
}

func checkMetadataSeries(r *Release) []subject {
	objects := r.metadata()
	subjects := make([]subject, 0, len(objects))
	for _, object := range objects {
		var messages []string
		entries := object.objects("releaseSeries")
		for i, entry := range entries {
			for _, field := range []string{"major", "minor"} {
				if value := entry[field]; value != nil && value != float64(number(value)) && value != number(value) {
					messages = append(messages, fmt.Sprintf("releaseSeries[%d].%s is %#v, want a whole number without quotes", i, field, value))
				}
			}
		}
		if len(entries) == 0 {
			messages = append(messages, "releaseSeries is empty, want at least one entry with major, minor and contract")
		}
		subjects = append(subjects, of(object, messages...))
	}
	return subjects
}

func checkMetadataSeriesUnique(r *Release) []subject {
	return eachMetadata(r, func(all []series) []string {
		var messages []string
		seen := map[string]bool{}
		for _, s := range all {
			if seen[s.String()] {
				messages = append(messages, fmt.Sprintf("the release series %s is there twice", s))
			}
			seen[s.String()] = true
		}
		return messages
	})
}

var contracts = []string{"v1alpha2", "v1alpha3", "v1alpha4", "v1beta1", "v1beta2"}

func checkMetadataContract(r *Release) []subject {
	return eachMetadata(r, func(all []series) []string {
		var messages []string
		for _, s := range all {
			if !slices.Contains(contracts, s.Contract) {
				messages = append(messages, fmt.Sprintf("the release series %s has the contract %q, want one of %s", s, s.Contract, strings.Join(contracts, ", ")))
			}
		}
		return messages
	})
}

func checkMetadataRelease(r *Release) []subject {
	own, err := version.ParseSemantic(filepath.Base(r.Dir))
	if err != nil || !r.Repository {
		return nil
	}
	return eachMetadata(r, func(all []series) []string {
		if len(all) == 0 || slices.ContainsFunc(all, func(s series) bool { return s.Major == int64(own.Major()) && s.Minor == int64(own.Minor()) }) {
			return nil
		}
		return []string{fmt.Sprintf("no release series is for %s", filepath.Base(r.Dir))}
	})
}

func eachMetadata(r *Release, check func([]series) []string) []subject {
	objects := r.metadata()
	subjects := make([]subject, 0, len(objects))
	for _, object := range objects {
		subjects = append(subjects, of(object, check(seriesIn(object))...))
	}
	return subjects
}

func checkComponentsName(r *Release) []subject {
	want := providerTypes[providerType(r.provider())]
	if !r.Folder || want == "" {
		return nil
	}
	var subjects []subject
	for _, file := range r.of(Components) {
		switch {
		case !slices.ContainsFunc(file.Objects, func(o Object) bool { return o.GetKind() == "CustomResourceDefinition" || o.GetKind() == "Deployment" }):
		case file.base() != want:
			subjects = append(subjects, of(file.object(), fmt.Sprintf("is named %s, want %s", file.base(), want)))
		default:
			subjects = append(subjects, of(file.object()))
		}
	}
	return subjects
}
