// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/mod/module"
)

// license says under which licenses something may be used.
type license struct {
	// names are SPDX identifiers for Go modules, and Debian's names for its packages.
	names []string
	// text is the text of all licenses; empty for Debian packages, which contain it.
	text string
}

// seeElsewhere begins the name of a license that is not recognized.
const seeElsewhere = "see "

// licenses holds the license of each Go module, by its path and version, so that each is read once.
type licenses map[string]license

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)
	// debianLicense is a license in the machine-readable format of Debian's copyright files.
	debianLicense = regexp.MustCompile(`(?m)^License: *(\S.*)$`)
	classifier    = sync.OnceValues(assets.DefaultClassifier)
	moduleCache   = sync.OnceValues(func() (string, error) {
		folder, err := exec.Command("go", "env", "GOMODCACHE").Output()
		return strings.TrimSpace(string(folder)), err
	})
)

// ofModule reads the license of a module in Go's module cache, where the build put it.
func (l licenses) ofModule(path, version string) (license, error) {
	key := path + "@" + version
	if known, found := l[key]; found {
		return known, nil
	}
	found, err := readModule(path, version)
	if err != nil {
		return license{}, fmt.Errorf("find the license of %s: %w", key, err)
	}
	l[key] = found
	return found, nil
}

func readModule(path, version string) (license, error) {
	cache, err := moduleCache()
	if err != nil {
		return license{}, err
	}
	escaped, err := module.EscapePath(path)
	if err != nil {
		return license{}, err
	}
	version, err = module.EscapeVersion(version)
	if err != nil {
		return license{}, err
	}
	return readFolder(filepath.Join(cache, escaped+"@"+version))
}

// readFolder recognizes the licenses in a folder.
func readFolder(folder string) (found license, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return found, err
	}
	known, err := classifier()
	if err != nil {
		return found, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !licenseFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return found, err
		}
		found.text += strings.TrimSpace(string(text)) + "\n"
		for _, match := range known.Match(text).Matches {
			if match.MatchType == "License" {
				found.names = append(found.names, match.Name)
			}
		}
	}
	return found.sorted("the sources"), nil
}

// ofPackage reads the license of a Debian package in an operating system.
func ofPackage(system, name string) license {
	found := license{}
	// Some packages have none of their own.
	text, err := os.ReadFile(filepath.Join(system, "usr/share/doc", name, "copyright"))
	if err != nil {
		return found
	}
	for _, match := range debianLicense.FindAllSubmatch(text, -1) {
		found.names = append(found.names, string(match[1]))
	}
	return found.sorted("usr/share/doc/" + name + "/copyright")
}

// sorted returns the license with each name once. Without names, it refers to where to look.
func (l license) sorted(where string) license {
	if len(l.names) == 0 {
		l.names = []string{seeElsewhere + where}
	}
	slices.Sort(l.names)
	l.names = slices.Compact(l.names)
	return l
}

// of returns a component with its licenses. CycloneDX knows SPDX identifiers, but not Debian's names.
func (l license) of(one cyclonedx.Component) cyclonedx.Component {
	if len(l.names) == 0 {
		return one
	}
	choices := cyclonedx.Licenses{}
	for _, name := range l.names {
		choice := &cyclonedx.License{ID: name}
		if strings.HasPrefix(one.PackageURL, "pkg:deb/") || strings.HasPrefix(name, seeElsewhere) {
			choice = &cyclonedx.License{Name: name}
		}
		choices = append(choices, cyclonedx.LicenseChoice{License: choice})
	}
	one.Licenses = &choices
	return one
}
