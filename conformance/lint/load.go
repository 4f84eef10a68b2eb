// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Load reads the releases in files and folders; - is the standard input. A folder may be a
// clusterctl repository, one release in it, any folder with manifests, or an OCI layout.
func Load(stdin io.Reader, paths ...string) ([]*Release, error) {
	var releases []*Release
	for _, path := range paths {
		found, err := load(stdin, path)
		if err != nil {
			return nil, err
		}
		releases = append(releases, found...)
	}
	return releases, nil
}

func load(stdin io.Reader, path string) ([]*Release, error) {
	if path == "-" {
		data, err := readAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read the standard input: %w", err)
		}
		return loadFile("-", "-", data)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		return loadFile(path, filepath.Dir(path), data)
	}
	if _, err := os.Stat(filepath.Join(path, "oci-layout")); err == nil {
		releases, err := loadOCI(path)
		if err != nil {
			return nil, fmt.Errorf("OCI layout %s: %w", path, err)
		}
		return releases, nil
	}
	return loadFolder(path)
}

// maxSize is how large a manifest may be. The largest components that a provider publishes have a few MiB.
const maxSize = 64 << 20

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// readAll reads a manifest. What is too large to be one is refused, before it fills the memory.
func readAll(source io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(source, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("it is larger than %d MiB, too large for a manifest", maxSize>>20)
	}
	return data, err
}

// loadFile makes a release of one file that the user has named. What cannot be read counts as
// components, so that the rule about their YAML says why.
func loadFile(path, dir string, data []byte) ([]*Release, error) {
	file := newFile(path, data)
	if file.Type == Other && !file.readable() {
		file.Type = Components
	}
	if file.Type == Other || len(file.Objects) == 0 && file.readable() {
		return nil, fmt.Errorf("%s has no manifests of a provider: no components, metadata, cluster templates or ClusterClasses", path)
	}
	return newReleases(&Release{Dir: dir, Files: []*File{file}}), nil
}

// loadFolder reads each folder below the root that has manifests of providers as a release.
func loadFolder(root string) ([]*Release, error) {
	paths, kustomization, err := manifests(root)
	if err != nil {
		return nil, err
	}
	folders := map[string]*Release{}
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		file, dir := newFile(path, data), filepath.Dir(path)
		if file.Type == Other {
			continue
		}
		if folders[dir] == nil {
			folders[dir] = &Release{Dir: dir, Folder: true, Repository: inRepository(root, dir)}
		}
		folders[dir].Files = append(folders[dir].Files, file)
	}
	var releases []*Release
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		releases = append(releases, newReleases(folders[dir])...)
	}
	if len(releases) == 0 && kustomization {
		return nil, fmt.Errorf("%s has kustomizations only; build them first: kustomize build FOLDER | capi-conformance lint -", root)
	}
	if len(releases) == 0 {
		return nil, fmt.Errorf("%s has no manifests of a provider: no components, metadata, cluster templates or ClusterClasses", root)
	}
	return releases, nil
}

// manifests lists the YAML files below the root, without those in hidden folders, and reports
// whether one of them is a kustomization.
func manifests(root string) (paths []string, kustomization bool, err error) {
	// Unlike filepath.WalkDir, this follows a root that is a link.
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch extension := filepath.Ext(path); {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || extension != ".yaml" && extension != ".yml":
		case entry.Name() == "kustomization.yaml":
			kustomization = true
		default:
			paths = append(paths, filepath.Join(root, path))
		}
		return nil
	})
	return paths, kustomization, err
}

// inRepository reports whether the folder is PROVIDER/VERSION below the root: at least one of the
// two is as clusterctl wants it.
func inRepository(root, dir string) bool {
	relative, err := filepath.Rel(root, dir)
	if err != nil {
		return false
	}
	parts := strings.Split(relative, string(filepath.Separator))
	if len(parts) < 2 {
		return false
	}
	return providerType(parts[len(parts)-2]) != "" || isVersion(parts[len(parts)-1])
}

func isVersion(name string) bool {
	_, err := version.ParseSemantic(name)
	return err == nil
}

// newReleases prepares a release. Files named *-components.yaml in one folder are a release each,
// as in the repository of Cluster API itself.
func newReleases(release *Release) []*Release {
	var named, others []*File
	for _, file := range release.Files {
		if file.Type == Components && strings.HasSuffix(file.Path, "-components.yaml") {
			named = append(named, file)
		} else {
			others = append(others, file)
		}
	}
	if len(named) < 2 {
		release.prepare()
		if len(release.Files) == 0 {
			return nil // it had only examples
		}
		return []*Release{release}
	}
	var releases []*Release
	for _, file := range named {
		one := *release
		one.Files = append([]*File{file}, others...)
		one.prepare()
		releases = append(releases, &one)
	}
	return releases
}

// misspelt is no type of provider, but stands for one, so that other rules can be checked.
const misspelt = "runtime-extensions-"

// providerTypes are the prefixes of the provider's label, or all of it, and the names of the components.
var providerTypes = map[string]string{
	"bootstrap-":         "bootstrap-components.yaml",
	"control-plane-":     "control-plane-components.yaml",
	"infrastructure-":    "infrastructure-components.yaml",
	"ipam-":              "ipam-components.yaml",
	"runtime-extension-": "runtime-extension-components.yaml",
	misspelt:             "runtime-extension-components.yaml",
	"addon-":             "addon-components.yaml",
	"cluster-api":        "core-components.yaml",
}

// providerType returns the prefix of a provider's label, or nothing.
func providerType(label string) string {
	found := ""
	for prefix := range providerTypes {
		if label == prefix || strings.HasSuffix(prefix, "-") && strings.HasPrefix(label, prefix) && len(prefix) > len(found) {
			found = prefix
		}
	}
	return found
}

// Implementation guesses the names and versions of what was loaded, for the report.
func Implementation(releases []*Release) (name, version string) {
	var names, versions []string
	for _, release := range releases {
		if label := release.provider(); label != "" && !slices.Contains(names, label) {
			names = append(names, label)
		}
		if folder := filepath.Base(release.Dir); release.Repository && isVersion(folder) && !slices.Contains(versions, folder) {
			versions = append(versions, folder)
		}
	}
	return strings.Join(names, ", "), strings.Join(versions, ", ")
}
