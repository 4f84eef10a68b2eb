/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package debian

import (
	_ "embed" // the lists are part of the program
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

var (
	//go:embed packages.yaml
	packagesList []byte
	//go:embed packages.lock
	packagesLock []byte
)

// Distro names the distribution in package URLs.
const Distro = "debian-13"

// Package is one package of an image.
type Package struct {
	// Name of the package.
	Name string `json:"name"`
	// Reason why an image has it.
	Reason string `json:"reason"`
}

// Pin is one package as it is used, for one architecture.
type Pin struct {
	// Name, Version and Architecture of the package, as Debian has them.
	Name, Version, Architecture string
	// SHA256 of the package's file, in hexadecimal digits.
	SHA256 string
}

// URL returns the package's URL of the purl specification.
func (p Pin) URL() string {
	// A version may have + and ~, which stand for themselves, and an epoch with a colon.
	return "pkg:deb/debian/" + p.Name + "@" + strings.ReplaceAll(p.Version, ":", "%3A") + "?arch=" + p.Architecture + "&distro=" + Distro
}

func (p Pin) String() string {
	return strings.Join([]string{p.Architecture, p.Name, p.Version, p.SHA256}, " ")
}

// file returns the name that apt gives the package's file.
func (p Pin) file() string {
	return p.Name + "_" + strings.ReplaceAll(p.Version, ":", "%3a") + "_" + p.Architecture + ".deb"
}

// Packages returns all packages of an image, in the order of the list.
func Packages() ([]Package, error) { return parsePackages(packagesList) }

func parsePackages(text []byte) ([]Package, error) {
	var packages []Package
	if err := yaml.UnmarshalStrict(text, &packages); err != nil {
		return nil, fmt.Errorf("list of packages: %w", err)
	}
	seen := map[string]bool{}
	for _, one := range packages {
		if one.Name == "" || one.Reason == "" {
			return nil, fmt.Errorf("list of packages: %+v: each needs a name and a reason", one)
		}
		if seen[one.Name] {
			return nil, fmt.Errorf("list of packages: %s is there twice", one.Name)
		}
		seen[one.Name] = true
	}
	return packages, nil
}

// Lock returns the recorded package of each one in the list, for an architecture that Debian and Go give the same name.
func Lock(architecture string) ([]Pin, error) {
	packages, err := Packages()
	if err != nil {
		return nil, err
	}
	pins, err := parseLock(packagesLock)
	if err != nil {
		return nil, err
	}
	return choose(packages, pins, architecture)
}

// choose returns the pins of the packages for an architecture; the lock must have these and no others.
func choose(packages []Package, pins []Pin, architecture string) ([]Pin, error) {
	found := map[string]Pin{}
	for _, pin := range pins {
		if pin.Architecture == architecture {
			found[pin.Name] = pin
		}
	}
	chosen := make([]Pin, 0, len(packages))
	for _, one := range packages {
		pin, ok := found[one.Name]
		if !ok {
			return nil, fmt.Errorf("packages.lock has no %s for %s: run make node-packages", one.Name, architecture)
		}
		chosen = append(chosen, pin)
	}
	if len(found) != len(chosen) {
		return nil, fmt.Errorf("packages.lock has packages for %s that packages.yaml has not: run make node-packages", architecture)
	}
	return chosen, nil
}

func parseLock(text []byte) ([]Pin, error) {
	var pins []Pin
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) != len([]string{"architecture", "name", "version", "sum"}) {
			return nil, fmt.Errorf("packages.lock: %q: want architecture, name, version and SHA-256 sum", strings.TrimSpace(line))
		}
		pins = append(pins, Pin{Architecture: fields[0], Name: fields[1], Version: fields[2], SHA256: fields[3]})
	}
	if len(pins) == 0 {
		return nil, errors.New("packages.lock names no package: run make node-packages")
	}
	return pins, nil
}
