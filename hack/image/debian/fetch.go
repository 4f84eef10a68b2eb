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
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	folderMode = 0o755
	fileMode   = 0o644

	sourcesSuffix = ".sources"
)

// Fetcher fetches packages into a folder, where they stay.
type Fetcher struct {
	// Folder is the cache: packages that are there with the right checksum are not fetched again.
	Folder string
	// Sources are files that say where packages come from, as apt's .sources files do. The next one is tried when not all
	// packages are to be had from one. None stands for the mirrors of Debian that this machine's apt has.
	Sources []string
}

// FetchRecorded returns the recorded packages for an architecture, and the file of each.
func (f Fetcher) FetchRecorded(ctx context.Context, architecture string) ([]Pin, []string, error) {
	pins, err := Lock(architecture)
	if err != nil {
		return nil, nil, err
	}
	paths, err := f.Fetch(ctx, pins)
	return pins, paths, err
}

// FetchForTest returns the recorded packages or, where these are not to be had any more, the newest. Tests go on with these, as
// they should; a release does not.
func (f Fetcher) FetchForTest(ctx context.Context, architecture string) ([]Pin, []string, error) {
	pins, paths, err := f.FetchRecorded(ctx, architecture)
	if err == nil {
		return pins, paths, nil
	}
	packages, listErr := Packages()
	if listErr != nil {
		return nil, nil, listErr
	}
	pins, newestErr := f.Resolve(ctx, architecture, packages)
	if newestErr != nil {
		return nil, nil, errors.Join(err, newestErr)
	}
	paths, err = f.Fetch(ctx, pins)
	return pins, paths, err
}

// Fetch returns the file of each package, in their order. It needs no network if the folder has them all.
func (f Fetcher) Fetch(ctx context.Context, pins []Pin) ([]string, error) {
	if err := os.MkdirAll(f.Folder, folderMode); err != nil {
		return nil, fmt.Errorf("folder of the packages: %w", err)
	}
	missing := map[string][]string{}
	paths := make([]string, 0, len(pins))
	for _, pin := range pins {
		paths = append(paths, filepath.Join(f.Folder, pin.file()))
		if verify(paths[len(paths)-1], pin) != nil {
			missing[pin.Architecture] = append(missing[pin.Architecture], pin.Name+"="+pin.Version)
		}
	}
	for architecture, names := range missing {
		if err := f.download(ctx, architecture, names); err != nil {
			return nil, fmt.Errorf("%w; take the newest packages with make node-packages, or name sources that have these with "+
				"DEBIAN_SOURCES=<file>", err)
		}
	}
	for i, pin := range pins {
		if err := verify(paths[i], pin); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// Resolve fetches the newest version of each package and returns them.
func (f Fetcher) Resolve(ctx context.Context, architecture string, packages []Package) ([]Pin, error) {
	// A folder of its own, so that there is one version of each.
	folder, err := os.MkdirTemp("", "packages-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	names := make([]string, 0, len(packages))
	for _, one := range packages {
		names = append(names, one.Name)
	}
	fresh := Fetcher{Folder: folder, Sources: f.Sources}
	if err := fresh.download(ctx, architecture, names); err != nil {
		return nil, err
	}
	pins := make([]Pin, 0, len(names))
	for _, name := range names {
		pin, err := identify(ctx, folder, name)
		if err != nil {
			return nil, err
		}
		if pin.Architecture != architecture {
			return nil, fmt.Errorf("package %s is for architecture %s, want %s", name, pin.Architecture, architecture)
		}
		pins = append(pins, pin)
	}
	return pins, nil
}

// identify returns what the one file of a package in a folder is.
func identify(ctx context.Context, folder, name string) (Pin, error) {
	found, err := filepath.Glob(filepath.Join(folder, name+"_*.deb"))
	if err != nil {
		return Pin{}, fmt.Errorf("package %s: %w", name, err)
	}
	if len(found) != 1 {
		return Pin{}, fmt.Errorf("package %s: apt has fetched %d files, want one", name, len(found))
	}
	fields, err := run(exec.CommandContext(ctx, "dpkg-deb", "--show", "--showformat=${Version} ${Architecture}", found[0]))
	if err != nil {
		return Pin{}, err
	}
	version, architecture, _ := strings.Cut(string(fields), " ")
	sum, err := sumOf(found[0])
	return Pin{Name: name, Version: version, Architecture: architecture, SHA256: sum}, err
}

// download fetches packages for an architecture from the first sources that have all of them.
func (f Fetcher) download(ctx context.Context, architecture string, names []string) error {
	folder, err := filepath.Abs(f.Folder)
	if err != nil {
		return err
	}
	state := filepath.Join(folder, "apt-"+architecture)
	if err := os.MkdirAll(filepath.Join(state, "lists", "partial"), folderMode); err != nil {
		return fmt.Errorf("folder of apt: %w", err)
	}
	lists, err := f.sources(ctx, state)
	if err != nil {
		return err
	}
	var failures []error
	for _, list := range lists {
		err := runApt(ctx, apt{state: state, list: list, architecture: architecture}, names)
		if err == nil {
			return nil
		}
		failures = append(failures, fmt.Errorf("packages for %s from %s: %w", architecture, list, err))
	}
	return errors.Join(failures...)
}

// apt is one run of apt, with its own idea of a machine.
type apt struct{ state, list, architecture string }

// runApt has apt fetch packages to the folder above its state. All that apt knows and writes lies there, so that the machine's own
// packages neither matter nor change; its settings, as proxies, hold.
func runApt(ctx context.Context, a apt, names []string) error {
	// No package is installed as far as apt is concerned.
	status := filepath.Join(a.state, "status")
	if err := os.WriteFile(status, nil, fileMode); err != nil {
		return fmt.Errorf("state of apt: %w", err)
	}
	options := []string{
		"Dir::State=" + a.state, "Dir::State::status=" + status, "Dir::Cache=" + a.state,
		"Dir::Etc::sourcelist=" + a.list, "Dir::Etc::sourceparts=/dev/null",
		"APT::Architecture=" + a.architecture, "APT::Architectures::=" + a.architecture,
		// apt would become another user, who can not write here.
		"APT::Sandbox::User=",
		"Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	}
	for _, arguments := range [][]string{{"update"}, append([]string{"download"}, names...)} {
		command := exec.CommandContext(ctx, "apt-get", "-qq")
		for _, option := range options {
			command.Args = append(command.Args, "-o", option)
		}
		command.Args = append(command.Args, arguments...)
		command.Dir = filepath.Dir(a.state)
		if _, err := run(command); err != nil {
			return err
		}
	}
	return nil
}

// sources returns the paths of the files that say where packages come from. apt reads the form of its .sources files only where
// the name ends so.
func (f Fetcher) sources(ctx context.Context, state string) ([]string, error) {
	var paths []string
	for _, source := range f.Sources {
		if filepath.Ext(source) != sourcesSuffix {
			return nil, fmt.Errorf("sources of packages are in %s, want a file whose name ends in %s", source, sourcesSuffix)
		}
		path, err := filepath.Abs(source)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	text, err := mirrors(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(state, "mirrors"+sourcesSuffix)
	if err := os.WriteFile(path, text, fileMode); err != nil {
		return nil, fmt.Errorf("sources of packages: %w", err)
	}
	return []string{path}, nil
}

// run runs a command and returns what it prints.
func run(command *exec.Cmd) ([]byte, error) {
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(command.Path), err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s (Debian's apt and dpkg are needed): %w", filepath.Base(command.Path), err)
	}
	return out, nil
}

// verify returns an error if a file is not the package that is wanted.
func verify(path string, pin Pin) error {
	sum, err := sumOf(path)
	if err != nil {
		return err
	}
	if sum != pin.SHA256 {
		return fmt.Errorf("package %s %s for %s: the SHA-256 sum is %s, want %s", pin.Name, pin.Version, pin.Architecture, sum, pin.SHA256)
	}
	return nil
}

func sumOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read a package: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
