// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// Releases are what clusterctl installs, upgrades and removes.
type Releases struct {
	// Program is clusterctl, and Config its configuration. It names the repositories of the providers,
	// and has the values of their variables, unless the environment has.
	Program, Config string
	// Kubeconfig and Context are of the management cluster that the Checker's client is of. Empty means
	// what clusterctl and kubectl use by default.
	Kubeconfig, Context string
	// Versions are the releases to check, such as v0.2.0, by the labels of their providers.
	Versions map[string]string
	// Previous are older releases of some of these providers, which are upgraded; empty for no upgrade.
	Previous map[string]string
}

// providerTypes are the prefixes of the labels of providers, and flags of clusterctl.
var providerTypes = []string{"bootstrap", "control-plane", "infrastructure", "ipam", "runtime-extension", "addon"}

// flag returns the flag of clusterctl that names a provider; without a version it stands for what is
// installed.
func flag(label, version string) (string, error) {
	for _, kind := range providerTypes {
		name, ok := strings.CutPrefix(label, kind+"-")
		switch {
		case !ok || name == "":
		case version == "":
			return "--" + kind + "=" + name, nil
		default:
			return "--" + kind + "=" + name + ":" + version, nil
		}
	}
	return "", fmt.Errorf("the provider %q has no known type; want for example infrastructure-foo; types: %s", label, strings.Join(providerTypes, ", "))
}

// Validate returns an error unless the releases can be installed.
func (r *Releases) Validate() error {
	if len(r.Versions) == 0 {
		return errors.New("no provider has a release to install")
	}
	for label, name := range r.Versions {
		if _, err := flag(label, name); err != nil {
			return err
		}
		if _, err := version.ParseSemantic(name); err != nil {
			return fmt.Errorf("the release %q of %s is no semantic version", name, label)
		}
	}
	for label, name := range r.Previous {
		newer, err := version.ParseSemantic(r.Versions[label])
		if err != nil {
			return fmt.Errorf("%s has a previous release, and none that it is upgraded to", label)
		}
		older, err := version.ParseSemantic(name)
		if err != nil {
			return fmt.Errorf("the previous release %q of %s is no semantic version", name, label)
		}
		if !older.LessThan(newer) {
			return fmt.Errorf("the previous release %s of %s is not older than %s", name, label, r.Versions[label])
		}
	}
	return nil
}

// labels returns the labels of the providers.
func (r *Releases) labels() []string { return slices.Sorted(maps.Keys(r.Versions)) }

// before returns the releases before the upgrade.
func (r *Releases) before() map[string]string {
	all := maps.Clone(r.Versions)
	maps.Copy(all, r.Previous)
	return all
}

// upgraded returns the releases after the upgrade of what is upgraded.
func (r *Releases) upgraded() map[string]string {
	all := maps.Clone(r.Versions)
	maps.DeleteFunc(all, func(label, _ string) bool { return r.Previous[label] == "" })
	return all
}

// title names releases.
func title(releases map[string]string) string {
	names := make([]string, 0, len(releases))
	for _, label := range slices.Sorted(maps.Keys(releases)) {
		names = append(names, label+" "+releases[label])
	}
	return strings.Join(names, ", ")
}

// run runs clusterctl and returns what it prints. The error says what clusterctl said.
func (r *Releases) run(ctx context.Context, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, r.Program, append(arguments, "--config="+r.Config)...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the last step runs to its end after a Ctrl-C
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	if err := command.Run(); err != nil {
		text := strings.TrimSpace(said.String())
		text = text[max(strings.LastIndex(text, "Error:"), 0):]
		return nil, fmt.Errorf("clusterctl %s: %w: %s", strings.Join(arguments, " "), err, text)
	}
	return out.Bytes(), nil
}

// manage runs clusterctl in the management cluster, for providers.
func (r *Releases) manage(ctx context.Context, releases map[string]string, command ...string) error {
	for _, label := range slices.Sorted(maps.Keys(releases)) {
		name, err := flag(label, releases[label])
		if err != nil {
			return err
		}
		command = append(command, name)
	}
	_, err := r.run(ctx, append(command, r.connection()...)...)
	return err
}

func (r *Releases) connection() []string {
	var flags []string
	if r.Kubeconfig != "" {
		flags = append(flags, "--kubeconfig="+r.Kubeconfig)
	}
	if r.Context != "" {
		flags = append(flags, "--kubeconfig-context="+r.Context)
	}
	return flags
}

// components returns the objects that clusterctl installs for a provider.
func (r *Releases) components(ctx context.Context, label string) ([]*unstructured.Unstructured, error) {
	name, err := flag(label, r.Versions[label])
	if err != nil {
		return nil, err
	}
	content, err := r.run(ctx, "generate", "provider", name)
	if err != nil {
		return nil, err
	}
	return fields.Decode(content)
}

// errNoFolder means that nothing lists the flavors of a provider.
var errNoFolder = errors.New("clusterctl's configuration has no repository of the provider that is a folder, so its flavors are unknown")

// flavors returns the flavors that an infrastructure provider publishes; the default one is empty.
func (r *Releases) flavors(label string) ([]string, error) {
	content, err := os.ReadFile(r.Config)
	if err != nil {
		return nil, err
	}
	var config struct {
		Providers []struct{ Name, Type, URL string } `json:"providers"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Config, err)
	}
	for _, provider := range config.Providers {
		path := strings.TrimPrefix(provider.URL, "file://")
		if provider.Type != "InfrastructureProvider" || "infrastructure-"+provider.Name != label || !filepath.IsAbs(path) {
			continue
		}
		const prefix = "cluster-template"
		files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), r.Versions[label], prefix+"*.yaml"))
		flavors := make([]string, 0, len(files))
		for _, file := range files {
			flavors = append(flavors, strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), prefix), ".yaml"), "-"))
		}
		return flavors, err
	}
	return nil, errNoFolder
}
